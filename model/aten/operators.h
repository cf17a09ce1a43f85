// The operators through LibTorch's ATen, on any of its devices: the CUDA side of the program, and
// on the CPU an independent implementation that the tests compare with the program's own operators.
#pragma once

#include <memory>
#include <string_view>

#include "model/operators/operators.h"

namespace lie {

/// `device`: "cpu" or "cuda[:index]"; activations and packed weights have `dtype`. On the CPU
/// LibTorch computes with `threads` threads from then on in the whole process; 0: as many as it
/// likes. Throws Error if this build or machine has no such device.
///
/// Unlike with the CPU operators, bits depend on the number of rows of a call, and LibTorch chooses
/// the order of sums over rows: cutting a batch changes gradients by rounding.
std::unique_ptr<Operators> make_aten_operators(std::string_view device, DType dtype,
                                               int threads = 0);

/// GPUs that CUDA lets this process use; 0 without a driver, or in a build without CUDA.
int usable_gpus();

}  // namespace lie
