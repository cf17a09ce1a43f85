// The length-weighted baseline: the mean of a group's rewards, in which a response counts once for
// each of its tokens. With the token mean as aggregation, the advantages of a group's tokens then
// add up to 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"

namespace lie {

struct LengthWeightedOptions {
  static constexpr const char* kName = "length_weighted";
  static constexpr const char* kAbout =
      "reward - the group's mean reward weighted by length, sum R L / sum L, so that with "
      "policy_loss.aggregation token-mean the advantages of the group's tokens add up to 0";
  static constexpr bool kHasSection = false;  // it has no keys
  static constexpr std::int64_t kLeastGroup = 2;
  static constexpr const char* kAggregation = "token-mean";
};
void describe(FieldList& fields, LengthWeightedOptions& options);

/// Returns A_i = R_i - sum_j R_j L_j / sum_j L_j with lengths L in tokens, without a division by a
/// standard deviation. A group of equal rewards has exactly 0.
std::vector<GroupAdvantages> estimated_advantages(const LengthWeightedOptions& options,
                                                  std::span<const ScoredGroup> groups);

}  // namespace lie
