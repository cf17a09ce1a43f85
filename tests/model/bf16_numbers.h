// Random bf16 numbers for tests, and a count of differences between two results.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "common/base/dtype.h"

namespace lie::test {

/// Generates random bf16 numbers. If `wild`, they include large, subnormal, infinite and NaN.
class Numbers {
 public:
  explicit Numbers(bool wild) : wild_(wild) {}
  std::uint16_t operator()() {
    const auto bits = static_cast<std::uint32_t>(random_());
    if (wild_) return static_cast<std::uint16_t>(bits);
    const float scale = std::exp2(static_cast<float>(static_cast<int>(bits % 64) - 90));
    return to_bfloat16(scale * (static_cast<float>(bits >> 8) / (1 << 23) - 1));
  }

 private:
  bool wild_;
  std::mt19937 random_{7};
};

/// Returns how many numbers differ in their bits. All NaNs are equal.
inline std::int64_t different(const std::vector<float>& a, const std::vector<float>& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) ++count;
  }
  return count;
}

}  // namespace lie::test
