#include "learner/schedule/dynamic_sampling.h"

#include <algorithm>
#include <utility>

#include "common/base/arithmetic.h"
#include "learner/advantage/group_rewards.h"

namespace lie {
bool has_signal(const ScoredGroup& group, SignalOf signal) {
  if (signal == SignalOf::kReward) return !all_equal(total_rewards(group.scores));
  const auto correct = std::ranges::count(group.scores, VerdictCode::kEqual, &Score::verdict);
  return correct > 0 && correct < std::ssize(group.scores);
}

std::int64_t prompts_of_next_round(std::span<const ScoredGroup> groups, std::int64_t wanted,
                                   SignalOf signal) {
  const std::int64_t found = std::ranges::count_if(
      groups, [&](const ScoredGroup& group) { return has_signal(group, signal); });
  if (found >= wanted) return 0;
  const std::int64_t needed =
      divided_up((wanted - found) * std::ssize(groups), std::max<std::int64_t>(found, 1));
  return std::min(needed, wanted);
}

SelectedGroups select_groups(std::vector<ScoredGroup> groups, std::int64_t wanted,
                             SignalOf signal) {
  SelectedGroups selected;
  for (ScoredGroup& group : groups) {
    const bool is_wanted = std::ssize(selected.trained) < wanted && has_signal(group, signal);
    (is_wanted ? selected.trained : selected.dropped).push_back(std::move(group));
  }
  return selected;
}

}  // namespace lie
