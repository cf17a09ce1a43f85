// The devices that LibTorch can use.
#pragma once

#include <string_view>

#include "model/aten/aten.h"

namespace lie::aten {

/// Returns the number of GPUs that CUDA lets this process use.
int usable_gpus();

/// Returns the device of that name with its index. Throws Error if this build or machine has no
/// such device.
at::Device usable_device(std::string_view name);

}  // namespace lie::aten
