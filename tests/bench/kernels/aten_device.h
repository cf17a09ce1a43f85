// ATen's view of the memory of operators.
#pragma once

#include "model/aten/aten.h"
#include "model/aten/tensor.h"
#include "model/operators/operators.h"

namespace lie::bench {

inline at::Device device_of(const Operators& operators) {
  const MemoryPlace place = operators.place();
  if (place.is_host()) return at::kCPU;
  return {at::kCUDA, static_cast<at::DeviceIndex>(place.device)};
}

inline at::Tensor wrapped(const Operators& operators, Tensor x) {
  return aten::wrap(x, device_of(operators));
}

}  // namespace lie::bench
