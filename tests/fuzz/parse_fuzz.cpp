#include <cstddef>
#include <cstdint>

#include "tests/fuzz/bodies.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lie::fuzz::parse_body({reinterpret_cast<const char*>(data), size});
  return 0;
}
