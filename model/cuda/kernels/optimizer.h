// AdamW and sums of squares, bit-identical to the CPU operators (model/cpu/optimizer.cpp).
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/operators/moment_rounding.h"
#include "model/operators/operators.h"

namespace lie::cuda {

/// Stores the moments of element i.
LIE_ROW void put_moments(const AdamWStep&, std::int64_t /*i*/, float m, float v, float& first,
                         float& second) {
  first = m;
  second = v;
}
LIE_ROW void put_moments(const AdamWStep& how, std::int64_t i, float m, float v, BFloat16& first,
                         BFloat16& second) {
  const std::uint32_t bits = moment_rounding_bits(how.update, how.element + i);
  first.bits = round_first_moment(m, bits);
  second.bits = round_second_moment(v, bits);
}

/// Updates one element. `Moment` is float or BFloat16.
template <typename Moment>
struct AdamW {
  AdamWStep how;
  const float* gradient;
  float* weights;
  Moment *first, *second;
  LIE_ROW void operator()(std::int64_t i) const {
    const float g = gradient[i] * how.clip;
    const float m = how.beta1 * widen(first[i]) + how.one_minus_beta1 * g;
    const float v = how.beta2 * widen(second[i]) + how.one_minus_beta2 * (g * g);
    const float divisor = sqrtf(v) / how.root_correction + how.eps;
    weights[i] = how.keep * weights[i] - how.step_size * (m / divisor);
    put_moments(how, i, m, v, first[i], second[i]);
  }
};

/// sums[b] = the sum of squares of block b, in double.
struct SumsOfSquares {
  const float* x;
  std::int64_t count, block;
  double* sums;

  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t b) const {
    const std::int64_t first = b * block, end = first + block < count ? first + block : count;
    typename Lanes::template PerLane<double> sum;
    lanes.each([&](int lane) {
      for (std::int64_t i = first + lane; i < end; i += kLanes) {
        const double v = static_cast<double>(x[i]);
        sum[lane] += v * v;
      }
    });
    const double all = lanes.sum_in_order(sum);
    lanes.once([&] { sums[b] = all; });
  }
};

}  // namespace lie::cuda
