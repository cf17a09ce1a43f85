// Makes ReferenceOperators (reference_operators.h) where LibTorch's headers are not included.
#pragma once

#include <memory>
#include <string_view>

#include "model/operators/operators.h"

namespace lie {

/// Returns operators on `device`, "cpu" or "cuda[:index]". Activations and packed weights have
/// `dtype`. On the CPU, LibTorch uses `threads` threads in the whole process from then on; 0 keeps
/// LibTorch's default. Throws Error if this build or machine has no such device.
std::unique_ptr<Operators> make_reference_operators(std::string_view device, DType dtype,
                                                    int threads = 0);

}  // namespace lie
