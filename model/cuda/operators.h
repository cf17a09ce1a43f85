// The operators on a CUDA device. Rows, head, sampling, AdamW and attention over pages use own
// kernels. All of these but attention are bit-identical to the CPU operators' row functions.
// Matmuls, the attention of training and memory use ATen (model/aten).
#pragma once

#include <memory>
#include <string_view>

#include "model/operators/operators.h"

namespace lie {

/// kExact makes forward passes of decoding and training bit-identical
/// (model/cuda/exact_operators.h), but is slower.
enum class CudaBits { kFast, kExact };

/// Returns operators on "cuda[:index]". Activations and packed weights have `dtype`. A build
/// without CUDA accepts "cpu" instead and runs the kernels' row functions on emulated lanes, for
/// tests. LibTorch then uses `threads` threads in the whole process from this call on; 0 keeps its
/// default. Throws Error if this build or machine has no such device.
std::unique_ptr<Operators> make_cuda_operators(std::string_view device, DType dtype,
                                               int threads = 0, CudaBits bits = CudaBits::kFast);

/// Returns the number of GPUs that CUDA lets this process use. It is 0 without a driver, or in a
/// build without CUDA.
int usable_gpus();

}  // namespace lie
