// Ranges as NVTX ranges, which NVIDIA Nsight Systems shows beside the kernels.
#pragma once

#include "common/base/trace_range.h"

namespace lie::cuda {

/// Returns the tracer that marks NVTX ranges; null in a build without CUDA. Without a profiler a
/// range costs some nanoseconds.
const Tracer* nvtx_tracer();

}  // namespace lie::cuda
