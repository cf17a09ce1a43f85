// The exact arithmetic of the CPU operators' kernels in scalar code.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/base/dtype.h"

namespace lie::test {

/// Folds sixteen lanes by halving.
inline float folded(float (&lane)[16]) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
}

inline float scalar_exp(float x) {
  if (x < -87.3f) return 0;
  const float n = std::nearbyint(x * 1.44269504088896341f);
  float r = std::fma(-n, 0.693359375f, x);
  r = std::fma(-n, -2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  for (const float c :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) {
    p = std::fma(p, r, c);
  }
  p = std::fma(p, r * r, r) + 1.0f;
  return std::ldexp(p, static_cast<int>(n));
}

inline float rounded(float x) { return from_bfloat16(to_bfloat16(x)); }

/// Returns one tile's part of a sum of a(k) b(k), 0 <= k < depth, with both factors rounded to
/// bf16.
template <typename A, typename B>
float tile_sum(std::int64_t depth, const A& a, const B& b) {
  float even = 0, odd = 0;
  for (std::int64_t k = 0; k < depth; ++k) {
    float& sum = k % 2 == 0 ? even : odd;
    sum = std::fma(rounded(a(k)), rounded(b(k)), sum);
  }
  return even + odd;
}

}  // namespace lie::test
