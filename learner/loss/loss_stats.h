// Statistics of the policy loss over the tokens and sequences of a mini-batch.
#pragma once

#include <array>
#include <limits>
#include <span>

#include "learner/loss/surrogate/surrogate.h"
#include "learner/loss/tis.h"

namespace lie {

/// Sums and extremes over the response tokens seen so far. merge() must be called in a fixed order.
struct PolicyLossStats {
  double loss = 0;  // weighted; its sum over sequences is the mini-batch's loss
  double policy_loss = 0, kl_loss = 0, entropy_loss = 0;
  double sequences = 0, tokens = 0;
  double no_gradient_low = 0;        // tokens without gradient because of Bound::kLow
  double no_gradient_high = 0;       // tokens without gradient because of Bound::kHigh
  double no_gradient_dual = 0;       // tokens without gradient because of Bound::kDual
  double no_gradient_sequences = 0;  // sequences with at least one token without gradient
  double ratio_sum = 0;              // importance ratios of the loss, at its level
  double kl_k1_sum = 0;              // approximate KL(old || policy): -d_t
  double kl_k3_sum = 0;              // r_t - 1 - d_t
  double reference_kl_sum = 0;       // KL(policy || reference) by kl_estimator
  double tis_weight_sum = 0;         // TIS weights; 1 each without tis_cap
  double tis_truncated = 0;          // tokens whose TIS weight was above the cap
  double tis_below = 0;              // tokens whose TIS weight was below the floor
  double off_policy_masked = 0;      // tokens of responses that the off-policy mask leaves out
  double entropy_sum = 0;
  std::array<double, 4> quarter_entropy_sum = {};  // [quarter of the response]
  std::array<double, 4> quarter_tokens = {};
  double ratio_min = std::numeric_limits<double>::infinity();
  double ratio_max = -std::numeric_limits<double>::infinity();
  double max_deviation = 0;  // max |r_t - 1| over token ratios at any level; NaN if one is NaN

  /// Returns the number of tokens that the surrogate leaves without gradient.
  double no_gradient() const { return no_gradient_low + no_gradient_high + no_gradient_dual; }

  /// Adds what the tokens of one sequence add, apart from the losses.
  void add_tokens(const SurrogateInput& input, std::span<const TokenLoss> losses,
                  std::span<const TisWeight> weights);

  void merge(const PolicyLossStats& other);
  /// All members, as std::bit_cast gives them.
  using Numbers = std::array<double, 30>;
};
static_assert(sizeof(PolicyLossStats) == sizeof(PolicyLossStats::Numbers));

}  // namespace lie
