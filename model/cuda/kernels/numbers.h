// Elements of rows and scalar functions, bit-identical to the CPU operators
// (model/cpu/kernels/vec16-inl.h). A fused multiply-add is written as fmaf. nvcc may not introduce
// others (-fmad=false).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "common/base/dtype.h"
#include "model/cuda/kernels/lanes.h"

namespace lie::cuda {

struct BFloat16 {
  std::uint16_t bits;
};

LIE_ROW float widen(float x) { return x; }
LIE_ROW float widen(BFloat16 x) { return from_bfloat16(x.bits); }
LIE_ROW void put(float x, float& to) { to = x; }
LIE_ROW void put(float x, BFloat16& to) { to.bits = to_bfloat16(x); }

/// The rows of a tensor.
template <typename T>
struct Rows {
  T* data = nullptr;
  std::int64_t stride = 0;
  LIE_ROW T* operator[](std::int64_t row) const { return data + row * stride; }
};

constexpr float kInfinity = INFINITY;

/// Returns the larger number, or b if one is NaN, as x86 does.
LIE_ROW float larger(float a, float b) { return a > b ? a : b; }
LIE_ROW float smaller(float a, float b) { return a < b ? a : b; }
LIE_ROW float plus(float a, float b) { return a + b; }

/// Returns e^x for x <= 88 (e^88 above), 0 below -87.3, NaN for NaN. The error is at most 2 ulp.
/// Has no branch, so that several can be computed at once.
LIE_ROW float exp_of(float x) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: the sum's last bits are the rounded addend
  const float in = x > 88.0f ? 88.0f : x;
  const float rounded = in * 1.44269504088896341f + kRounder, n = rounded - kRounder;
  float r = fmaf(-n, 0.693359375f, in);
  r = fmaf(-n, -2.12194440e-4f, r);
  float p = 1.9875691500e-4f;
  p = fmaf(p, r, 1.3981999507e-3f);
  p = fmaf(p, r, 8.3334519073e-3f);
  p = fmaf(p, r, 4.1665795894e-2f);
  p = fmaf(p, r, 1.6666665459e-1f);
  p = fmaf(p, r, 5.0000001201e-1f);
  p = fmaf(p, r * r, r) + 1.0f;
  const float power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(rounded) + 127) << 23);
  return x < -87.3f ? 0.0f : p * power;
}

/// Returns log x for finite x > 0, rounded from double.
LIE_ROW float log_of(float x) {
  if (!(x > 0.0f) || x == kInfinity) return x == 0.0f ? -kInfinity : x;
  int exponent = 0;
  double m = frexp(static_cast<double>(x), &exponent);  // [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2.0;
    --exponent;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double series = 1.0 / 15.0;
  for (int k = 13; k > 0; k -= 2) series = series * s2 + 1.0 / static_cast<double>(k);
  return static_cast<float>(2.0 * s * series + static_cast<double>(exponent) * 0.69314718055994531);
}

LIE_ROW float sigmoid(float x) { return 1.0f / (1.0f + exp_of(0.0f - x)); }

/// Sums a row of `width` columns, where term(column, before) returns `before` plus the column's
/// term. Lanes past the end add 0.0f, because the CPU's last vector has zeros there. Eight loads of
/// a lane are in flight.
template <typename Lanes, typename Term>
LIE_ROW float sum_row(const Lanes& lanes, std::int64_t width, const Term& term) {
  typename Lanes::template PerLane<float> sum;
  lanes.each([&](int lane) {
    constexpr int kAtOnce = 8;
    std::int64_t i = lane;
    for (; i - lane + kAtOnce * kLanes <= width; i += kAtOnce * kLanes) {
      for (int c = 0; c < kAtOnce; ++c) sum[lane] = term(i + c * kLanes, sum[lane]);
    }
    for (; i - lane < width; i += kLanes) {
      sum[lane] = i < width ? term(i, sum[lane]) : sum[lane] + 0.0f;
    }
  });
  return lanes.fold(sum, plus);
}

}  // namespace lie::cuda
