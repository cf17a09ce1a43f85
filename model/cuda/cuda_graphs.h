// Decode steps as CUDA graphs. The first two executions of a step warm up: they load its kernels
// and allocate cuBLAS's workspace. The third is captured as a graph, which later steps replay.
#pragma once

#include <memory>

#include "model/operators/cuda_graphs.h"

namespace lie::cuda {

/// Returns the graphs of ATen's CUDA device `device`, or null in a build without CUDA. The object
/// must be used from one thread.
std::unique_ptr<CudaGraphs> make_cuda_graphs(int device);

}  // namespace lie::cuda
