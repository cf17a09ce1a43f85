#include "learner/loss/loss_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "common/base/arithmetic.h"

namespace lie {
namespace {

void add_bound(Bound bound, PolicyLossStats& stats) {
  stats.no_gradient_low += bound == Bound::kLow ? 1 : 0;
  stats.no_gradient_high += bound == Bound::kHigh ? 1 : 0;
  stats.no_gradient_dual += bound == Bound::kDual ? 1 : 0;
}

/// Adds a token with log-ratio `d`. `used` is the importance ratio of the loss.
void add_ratio(double d, const Ratio& used, PolicyLossStats& stats) {
  const double ratio = limited_exp(d).value;
  stats.ratio_sum += used.value;
  stats.ratio_min = std::min(stats.ratio_min, used.value);
  stats.ratio_max = larger(stats.ratio_max, used.value);
  stats.max_deviation = larger(stats.max_deviation, std::abs(ratio - 1.0));
  stats.kl_k1_sum += -d;
  stats.kl_k3_sum += ratio - 1.0 - d;
}

void add_entropy(std::size_t quarter, float entropy, PolicyLossStats& stats) {
  stats.entropy_sum += static_cast<double>(entropy);
  stats.quarter_entropy_sum[quarter] += static_cast<double>(entropy);
  stats.quarter_tokens[quarter] += 1;
}

}  // namespace

void PolicyLossStats::add_tokens(const SurrogateInput& input, std::span<const TokenLoss> losses,
                                 std::span<const TisWeight> weights) {
  const std::size_t count = losses.size();
  for (std::size_t t = 0; t < count; ++t) {
    tokens += 1;
    add_bound(losses[t].bound, *this);
    add_ratio(input.log_ratios[t], input.ratios[t], *this);
    add_entropy(4 * t / count, input.sequence.entropies[t], *this);
    tis_weight_sum += weights[t].value;
    tis_truncated += weights[t].truncated ? 1 : 0;
    tis_below += weights[t].below ? 1 : 0;
  }
}

void PolicyLossStats::merge(const PolicyLossStats& other) {
  auto sums = std::bit_cast<Numbers>(*this);
  std::ranges::transform(sums, std::bit_cast<Numbers>(other), sums.begin(), std::plus());
  auto merged = std::bit_cast<PolicyLossStats>(sums);
  merged.ratio_min = std::min(ratio_min, other.ratio_min);
  merged.ratio_max = larger(ratio_max, other.ratio_max);
  merged.max_deviation = larger(max_deviation, other.max_deviation);
  *this = merged;
}

}  // namespace lie
