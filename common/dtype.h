// The types of numbers that arrays hold.
#pragma once

#include <cstdint>

namespace lie {

enum class DType : std::uint8_t { kFloat32 = 0, kBFloat16 = 1, kFloat64 = 2, kInt32 = 3 };

constexpr std::int64_t dtype_bytes(DType dtype) {
  return dtype == DType::kFloat64 ? 8 : dtype == DType::kBFloat16 ? 2 : 4;
}

}  // namespace lie
