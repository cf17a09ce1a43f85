// Compares a device's results in bf16 with float64 on the host, from the same rounded inputs. The
// output memory is filled with NaN first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/operators/operators.h"

namespace lie::bench {

struct DeviceCheck {
  std::string name;
  double error = 0;  // largest error over the largest value; infinite if a NaN is left
  double bound = 0;
};

/// Checks small shapes, the same on every device: matmuls, weight gradients, norm, log-probs, and
/// attention over pages and over packed sequences.
std::vector<DeviceCheck> device_checks(std::unique_ptr<Operators> operators);

}  // namespace lie::bench
