// GDPO (arXiv:2601.05242): each reward term is normalized over its group, the terms are added with
// weights, and the sums are normalized over the step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"

namespace lie {

struct GdpoOptions {
  static constexpr const char* kName = "gdpo";
  static constexpr const char* kAbout =
      "GDPO (arXiv:2601.05242), the sum over reward terms of weight (term - mean) / std of the "
      "group, divided by its standard deviation over the step";
  static constexpr std::int64_t kLeastGroup = 2;

  std::vector<std::string> weights = {};  // "name=weight"; terms that are not named have 1
  std::vector<double> by_term = {};       // [terms], by set_reward_terms()
};
void describe(FieldList& fields, GdpoOptions& options);

inline bool normalizes_terms(const GdpoOptions&) { return true; }

/// Sets by_term from `weights`. Throws Error if one is not name=number with the name of a reward
/// term and a finite number of at least 0, names a term twice, or if all weights are 0.
void set_reward_terms(GdpoOptions& options, const RewardNames& terms);

/// Throws Error if a weight is that of a term which is not on.
void check_reward_terms(const GdpoOptions& options, std::span<const std::string> terms_on);

/// Returns A_i = B_i / (std B + 1e-6), where B_i = sum_k w_k (r_ik - mean_k) / (std_k + 1e-6) has
/// the mean and std of each term k over the group, and std B is over all responses of the step,
/// with ddof 1. The mean of B over the step is 0. A term that is equal for the whole group adds 0.
/// Requires set_reward_terms() if there are weights.
std::vector<GroupAdvantages> estimated_advantages(const GdpoOptions& options,
                                                  std::span<const ScoredGroup> groups);

}  // namespace lie
