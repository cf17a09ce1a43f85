// Advantages normalized over the step: batch-level standard deviation (TRL's scale_rewards batch),
// and REINFORCE++ (arXiv:2501.03262) with and without the group's baseline.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"

namespace lie {

/// The responses whose mean reward is subtracted.
enum class BaselineOf : std::uint8_t { kGroup, kStep };
/// What the standard deviation over the step is that of: the rewards, or the rewards minus their
/// baseline.
enum class SpreadOf : std::uint8_t { kRewards, kAdvantages };

struct BatchNormalizedOptions {
  static constexpr const char* kName = "batch";
  static constexpr const char* kAbout =
      "(reward - baseline) / standard deviation over all responses of the step, by "
      "batch.baseline and batch.std_of: group and rewards are TRL's scale_rewards batch, step is "
      "REINFORCE++ (arXiv:2501.03262), group and advantages are REINFORCE++ with baseline";

  BaselineOf baseline = BaselineOf::kGroup;
  SpreadOf std_of = SpreadOf::kRewards;
};
void describe(FieldList& fields, BatchNormalizedOptions& options);

/// Returns 2 with the group's mean as baseline, of which a single response is its own, else 1.
std::int64_t least_group(const BatchNormalizedOptions& options);

/// Returns whether a response is compared with those to other prompts, so that a group may have
/// one.
bool compares_groups(const BatchNormalizedOptions& options);

/// Returns A_i = (R_i - b) / (s + 1e-6). b is the mean reward of the group, or of all responses of
/// the step. s is the standard deviation (ddof 1) over all responses of the step, of R or of R - b;
/// it is 0 for a step of one response. With the group's mean, a group of equal rewards has exactly
/// 0; with the step's mean, a step of equal rewards has. verl and OpenRLHF count a response once
/// for each of its tokens in mean and deviation; here it counts once.
std::vector<GroupAdvantages> estimated_advantages(const BatchNormalizedOptions& options,
                                                  std::span<const ScoredGroup> groups);

}  // namespace lie
