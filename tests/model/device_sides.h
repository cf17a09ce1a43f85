// What is held against the CPU operators: LibTorch's on the CPU, and those of model/cuda, on a CUDA
// device where one is there, on emulated lanes in a build without CUDA.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/aten/operators.h"
#include "model/cuda/kernels.h"
#include "model/cuda/operators.h"

namespace lie::test {

inline std::vector<std::string> device_sides() {
  std::vector<std::string> found{"cpu"};
  if (usable_gpus() > 0) found.emplace_back("cuda");
  if (cuda::kernels_are_emulated()) found.emplace_back("emulated");
  return found;
}

inline std::unique_ptr<Operators> make_side(const std::string& name,
                                            DType dtype = DType::kFloat32) {
  if (name == "cpu") return make_aten_operators(name, dtype, 1);
  return make_cuda_operators(name == "emulated" ? "cpu" : name, dtype, 1);
}

}  // namespace lie::test
