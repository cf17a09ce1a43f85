// MaxRL (arXiv:2602.02710): the group's mean reward is subtracted, and the difference is divided by
// the group's accuracy, so that problems with few correct responses have the largest advantages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"

namespace lie {

struct MaxRlOptions {
  static constexpr const char* kName = "maxrl";
  static constexpr const char* kAbout =
      "(reward - mean reward of the group) / accuracy of the group, and 0 in a group without a "
      "correct response";
  static constexpr bool kHasSection = false;  // it has no keys
  static constexpr std::int64_t kLeastGroup = 2;
};
void describe(FieldList& fields, MaxRlOptions& options);

std::string silent_groups(const MaxRlOptions& options, bool by_reward);

/// Returns A_i = (R_i - mean R) / a for each group, where a is its share of correct responses. The
/// paper divides by the mean reward of 0 or 1, which is a. With other reward terms the mean may be
/// 0 or less, and a stays what the paper means. Groups with a = 0 or equal rewards have exactly 0.
std::vector<GroupAdvantages> estimated_advantages(const MaxRlOptions& options,
                                                  std::span<const ScoredGroup> groups);

}  // namespace lie
