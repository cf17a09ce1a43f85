// Decode steps as CUDA graphs. A step is called twice as it is, which loads its kernels and makes
// cuBLAS's memory, and recorded the third time.
#pragma once

#include <memory>

#include "model/operators/step_recorder.h"

namespace lie::cuda {

/// On ATen's device of that number; null in a build without CUDA. One thread.
std::unique_ptr<StepRecorder> step_graphs(int device);

}  // namespace lie::cuda
