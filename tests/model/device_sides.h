// The implementations that tests compare with the CPU operators: LibTorch's on the CPU, and those
// of model/cuda, fast and exact. They run on a CUDA device if there is one, or on emulated lanes in
// a build without CUDA.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/cuda/kernels/kernels.h"
#include "model/cuda/operators.h"
#include "tests/aten/make_reference_operators.h"

namespace lie::test {

inline std::vector<std::string> device_sides() {
  std::vector<std::string> found{"cpu"};
  const std::string cuda = cuda::kernels_are_emulated() ? "emulated" : "cuda";
  if (cuda::kernels_are_emulated() || usable_gpus() > 0) {
    found.insert(found.end(), {cuda, cuda + "_exact"});
  }
  return found;
}

inline bool is_exact(const std::string& name) { return name.ends_with("_exact"); }

inline std::unique_ptr<Operators> make_side(const std::string& name,
                                            DType dtype = DType::kFloat32) {
  if (name == "cpu") return make_reference_operators(name, dtype, 1);
  return make_cuda_operators(cuda::kernels_are_emulated() ? "cpu" : "cuda", dtype, 1,
                             is_exact(name) ? CudaBits::kExact : CudaBits::kFast);
}

}  // namespace lie::test
