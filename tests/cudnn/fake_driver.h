// A stand-in for libcuda.so.1 that accepts machine code and counts what cuDNN loads, so that plans
// can be built without a GPU. It runs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lie::test {

/// A program for the device that was loaded.
struct LoadedKernel {
  std::string name;
  std::int64_t tensor_core_instructions = 0;  // HGMMA, of sm_90
  std::int64_t stack_bytes = 0;
};

/// Returns the kernels in the order in which they were loaded, and forgets them.
std::vector<LoadedKernel> take_loaded_kernels();

}  // namespace lie::test
