// Group-relative advantages (arXiv:2602.11748 §2; GRPO arXiv:2402.03300): how much better each
// response was than its group.
#pragma once

#include <span>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"

namespace lie {

/// How rewards become advantages. The default is A_i = (R_i - mean) / (std + 1e-6), std with
/// ddof 1.
struct AdvantageOptions {
  bool normalise_by_std = true;
  bool per_term = false;
  bool leave_one_out = false;
};
void describe(FieldList& fields, AdvantageOptions& options);

/// Advantages of one group, and the share of each reward term in them.
struct GroupAdvantages {
  std::vector<double> values;  // [G]
  /// [terms] Sum over the group of |part of A_i that term k makes|: the advantage is linear in the
  /// terms once mean and std are taken, A_i = sum_k (r_ik - mean_k) / (std + 1e-6). The metric
  /// advantage_mass_<k> is this, summed over a step, as a share of the sum over all terms.
  std::vector<double> mass;
};

/// Advantages of the members of one group (one prompt occurrence). A group of one has A = R. A
/// group of equal rewards has exactly 0: rewards that differ by no more than 1e-6 of the larger of
/// 1 and their magnitude count as equal, so that a rounding residue never becomes an advantage.
/// With per_term the guard holds for each term. Throws Error if the members differ in their number
/// of terms.
GroupAdvantages group_advantages(std::span<const Score> scores, const AdvantageOptions& options);

/// The same for plain rewards [G], by one normalisation.
std::vector<double> normalise_rewards(std::span<const double> rewards,
                                      const AdvantageOptions& options);

}  // namespace lie
