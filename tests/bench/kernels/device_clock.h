// Time and memory of a device.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/operators/operators.h"

namespace lie::bench {

/// Returns the name of a CUDA device, such as "NVIDIA H100 80GB HBM3". Returns "" for the host.
std::string device_name(const Operators& operators);

/// Returns the seconds between the start and the end of the device's work for `calls`, by CUDA
/// events, or by the host's clock without a GPU.
double device_seconds(const Operators& operators, const std::function<void()>& calls);

/// Returns the largest number of bytes that ATen held since the last call, if it is known.
std::optional<double> take_peak_bytes(const Operators& operators);

}  // namespace lie::bench
