// Addition, sums of squares and AdamW of the CPU operators.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/cpu/operators.h"
#include "model/operators/moment_rounding.h"

namespace lie::cpu {
namespace {

/// Updates every element separately with correctly rounded operations only, so that neither vector
/// width nor threads change a bit.
void adamw_range(const AdamWStep& c, std::int64_t count, const float* __restrict gradient,
                 float* __restrict weights, float* __restrict first, float* __restrict second) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * c.clip;
    first[i] = c.beta1 * first[i] + c.one_minus_beta1 * g;
    second[i] = c.beta2 * second[i] + c.one_minus_beta2 * (g * g);
    const float divisor = std::sqrt(second[i]) / c.root_correction + c.eps;
    weights[i] = c.keep * weights[i] - c.step_size * (first[i] / divisor);
  }
}

/// As above with moments in bf16, where `element` is the index of the first element.
void adamw_range_bf16(const AdamWStep& c, std::int64_t element, std::int64_t count,
                      const float* __restrict gradient, float* __restrict weights,
                      std::uint16_t* __restrict first, std::uint16_t* __restrict second) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * c.clip;
    const float m = c.beta1 * from_bfloat16(first[i]) + c.one_minus_beta1 * g;
    const float v = c.beta2 * from_bfloat16(second[i]) + c.one_minus_beta2 * (g * g);
    const float divisor = std::sqrt(v) / c.root_correction + c.eps;
    weights[i] = c.keep * weights[i] - c.step_size * (m / divisor);
    const std::uint32_t bits = moment_rounding_bits(c.update, element + i);
    first[i] = round_first_moment(m, bits);
    second[i] = round_second_moment(v, bits);
  }
}

/// Sums in 16 lanes, then over the lanes: one fixed order.
double sum_of_squares(const float* values, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
  std::array<double, kLanes> lanes = {};
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double v = static_cast<double>(values[i + static_cast<std::int64_t>(lane)]);
      lanes[lane] += v * v;
    }
  }
  for (std::int64_t i = whole; i < count; ++i) {
    const double v = static_cast<double>(values[i]);
    lanes[static_cast<std::size_t>(i - whole)] += v * v;
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

void CpuOperators::add(Tensor from, Tensor to) {
  split(to.elements(), 1024, to.elements() / 4, [&](Range range) {
    add_row(floats(from) + range.begin, floats(to) + range.begin, range.size());
  });
}

void CpuOperators::sums_of_squares(Tensor x, std::int64_t block, std::span<double> sums) {
  split(std::ssize(sums), 1, x.elements() / 4, [&](Range blocks) {
    for (std::int64_t i = blocks.begin; i < blocks.end; ++i) {
      const std::int64_t first = i * block;
      sums[static_cast<std::size_t>(i)] =
          sum_of_squares(floats(x) + first, std::min(block, x.elements() - first));
    }
  });
}

void CpuOperators::adamw(const AdamWStep& how, const AdamWTensors& x) {
  const std::int64_t count = x.weights.elements();
  split(count, 1024, 4 * count, [&](Range range) {
    if (x.first.dtype == DType::kBFloat16) {
      return adamw_range_bf16(how, how.element + range.begin, range.size(),
                              floats(x.gradient) + range.begin, floats(x.weights) + range.begin,
                              static_cast<std::uint16_t*>(x.first.data) + range.begin,
                              static_cast<std::uint16_t*>(x.second.data) + range.begin);
    }
    adamw_range(how, range.size(), floats(x.gradient) + range.begin,
                floats(x.weights) + range.begin, floats(x.first) + range.begin,
                floats(x.second) + range.begin);
  });
}

}  // namespace lie::cpu
