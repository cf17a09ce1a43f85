// The operators on a CUDA device. Rows, head, sampling, AdamW and attention over pages use own
// kernels; all but attention have the bits of the CPU operators' row functions. Matmuls, the
// attention of training and memory use ATen (model/aten).
#pragma once

#include <memory>
#include <string_view>

#include "model/operators/operators.h"

namespace lie {

/// kExact makes forward passes of decoding and training bit-identical
/// (model/cuda/exact_operators.h), but is slower.
enum class CudaBits { kFast, kExact };

/// Returns operators like make_aten_operators(), on "cuda[:index]". A build without CUDA accepts
/// "cpu" instead and runs the kernels' row functions on emulated lanes, for tests. Throws Error if
/// this build or machine has no such device.
std::unique_ptr<Operators> make_cuda_operators(std::string_view device, DType dtype,
                                               int threads = 0, CudaBits bits = CudaBits::kFast);

}  // namespace lie
