// Dynamic sampling (DAPO, arXiv:2503.14476, section 3.2). A group whose responses are all correct
// or all incorrect does not show which answer is better, so a group of another prompt replaces it.
// By choice this applies to groups of equal rewards instead.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/schedule/tickets.h"

namespace lie {

/// Returns whether a group has correct and incorrect responses, or whether its rewards differ by
/// more than rounding (all_equal() in learner/advantage/group_rewards.h). A length reward differs
/// within almost every group.
bool has_signal(const ScoredGroup& group, SignalOf signal = SignalOf::kAccuracy);

/// Returns how many prompts a step draws after these groups to have `wanted` groups with signal, if
/// those stay as frequent as so far: at most `wanted`; 0 if the step has enough. The number depends
/// on the groups alone, so it is the same for any layout.
std::int64_t prompts_of_next_round(std::span<const ScoredGroup> groups, std::int64_t wanted,
                                   SignalOf signal = SignalOf::kAccuracy);

/// The groups of a step, divided into those it trains on and the others, in their order.
struct SelectedGroups {
  std::vector<ScoredGroup> trained;  // the first `wanted` groups with signal, or fewer
  std::vector<ScoredGroup> dropped;
};

SelectedGroups select_groups(std::vector<ScoredGroup> groups, std::int64_t wanted,
                             SignalOf signal = SignalOf::kAccuracy);

}  // namespace lie
