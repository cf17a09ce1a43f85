// AdamW and sums of squares, bit-identical to the CPU operators (model/cpu/optimizer.cpp).
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/operators/operators.h"

namespace lie::cuda {

/// Updates one element.
struct AdamW {
  AdamWStep how;
  const float* gradient;
  float *weights, *first, *second;
  LIE_ROW void operator()(std::int64_t i) const {
    const float g = gradient[i] * how.clip;
    first[i] = how.beta1 * first[i] + how.one_minus_beta1 * g;
    second[i] = how.beta2 * second[i] + how.one_minus_beta2 * (g * g);
    const float divisor = sqrtf(second[i]) / how.root_correction + how.eps;
    weights[i] = how.keep * weights[i] - how.step_size * (first[i] / divisor);
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
