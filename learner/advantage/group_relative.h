// Group-relative advantages (arXiv:2602.11748 §2; GRPO arXiv:2402.03300): each response's reward,
// normalized by the rewards of its group.
#pragma once

#include <span>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"

namespace lie {

/// Options of the normalization. The default is A_i = (R_i - mean) / (std + 1e-6), std with ddof 1.
struct GroupRelativeOptions {
  static constexpr const char* kName = "group-relative";
  static constexpr const char* kAbout = "reward, normalized by the rewards of its group";
  static constexpr bool kHasSection = false;  // the keys are advantage.normalize_by_std, ...
  bool normalize_by_std = true;               // false: Dr. GRPO (arXiv:2503.20783)
  bool per_term = false;                      // true: each reward term is normalized on its own
  bool leave_one_out = false;                 // true: the baseline is the mean of the other members
};
void describe(FieldList& fields, GroupRelativeOptions& options);

inline bool normalizes_terms(const GroupRelativeOptions& options) { return options.per_term; }

/// Returns the advantages of a step's groups, each from its own rewards.
std::vector<GroupAdvantages> estimated_advantages(const GroupRelativeOptions& options,
                                                  std::span<const ScoredGroup> groups);

/// Returns the advantages of one group, the responses to one prompt occurrence. A group of one has
/// A = R. A group of equal rewards has exactly 0. Rewards count as equal if they differ by at most
/// 1e-6 * max(1, magnitude), so that rounding never becomes an advantage; with per_term this
/// applies to each term. Throws Error if the group is empty or its members differ in their number
/// of terms.
///
/// The mass of the terms follows from linearity: for fixed mean and std, A_i = sum_k (r_ik -
/// mean_k) / (std + 1e-6).
GroupAdvantages group_advantages(std::span<const Score> scores,
                                 const GroupRelativeOptions& options);

/// Returns the advantages of plain rewards [G], normalized once.
std::vector<double> normalize_rewards(std::span<const double> rewards,
                                      const GroupRelativeOptions& options);

}  // namespace lie
