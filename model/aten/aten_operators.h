// The operators through LibTorch's ATen, on any of its devices: the CUDA side of the program, and on
// the CPU an independent implementation that the tests hold the own operators against.
#pragma once

#include <memory>
#include <string_view>

#include "model/operators.h"

namespace lie {

/// `device`: "cpu" or "cuda[:index]"; activations and packed weights have `dtype`. Throws Error if
/// this build or machine has no such device.
std::unique_ptr<Operators> make_aten_operators(std::string_view device, DType dtype);

}  // namespace lie
