// What a device computes in bf16 against float64 on the host, from the same rounded inputs, into
// memory that held NaN.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/operators/operators.h"

namespace lie::bench {

struct DeviceCheck {
  std::string name;
  double error = 0;  // largest, over the largest value; infinite where a NaN is left
  double bound = 0;
};

/// Small shapes, the same on every device: products, weight gradients, norm, log-probs, attention
/// over pages and over packed sequences.
std::vector<DeviceCheck> device_checks(std::unique_ptr<Operators> operators);

}  // namespace lie::bench
