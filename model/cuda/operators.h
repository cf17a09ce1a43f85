// The operators on a CUDA device: rows, head, sampling and AdamW by own kernels with the bits of
// the CPU operators' row functions; products, attention and memory through ATen (model/aten). It
// has not yet run on a GPU.
#pragma once

#include <memory>
#include <string_view>

#include "model/operators/operators.h"

namespace lie {

/// kExact: forward passes of decoding and training have the same bits
/// (model/cuda/exact_operators.h); slower.
enum class CudaBits { kFast, kExact };

/// As make_aten_operators(), on "cuda[:index]". A build without CUDA takes "cpu" instead and runs
/// the kernels' row functions on emulated lanes, for tests. Throws Error if this build or machine
/// has no such device.
std::unique_ptr<Operators> make_cuda_operators(std::string_view device, DType dtype,
                                               int threads = 0, CudaBits bits = CudaBits::kFast);

}  // namespace lie
