// A libFuzzer target. LIE_FUZZ_BODY is its body.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/bodies.h"
#include "tests/fuzz/file_bodies.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lie::fuzz::LIE_FUZZ_BODY({reinterpret_cast<const char*>(data), size});
  return 0;
}
