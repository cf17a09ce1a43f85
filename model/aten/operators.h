// The operators through LibTorch's ATen, on any of its devices. They are the basis of the CUDA
// operators. On the CPU they are an independent implementation with which the tests compare the CPU
// operators.
#pragma once

#include <memory>
#include <string_view>

#include "model/operators/operators.h"

namespace lie {

/// Returns operators on `device`, "cpu" or "cuda[:index]". Activations and packed weights have
/// `dtype`. On the CPU, LibTorch uses `threads` threads in the whole process from then on; 0 keeps
/// LibTorch's default. Throws Error if this build or machine has no such device.
///
/// Unlike with the CPU operators, bits depend on the number of rows of a call, and LibTorch chooses
/// the order of sums over rows. Splitting a batch therefore changes gradients by rounding.
std::unique_ptr<Operators> make_aten_operators(std::string_view device, DType dtype,
                                               int threads = 0);

/// Returns the number of GPUs that CUDA lets this process use. It is 0 without a driver, or in a
/// build without CUDA.
int usable_gpus();

}  // namespace lie
