#include <cuda_runtime_api.h>

#include "tests/bench/kernels/device_clock.h"

namespace lie::bench {

std::string device_name(const Operators& operators) {
  cudaDeviceProp properties{};
  const MemoryPlace place = operators.place();
  if (place.is_host() || cudaGetDeviceProperties(&properties, place.device) != cudaSuccess) {
    return "";
  }
  return properties.name;
}

}  // namespace lie::bench
