#include "learner/schedule/dynamic_sampling.h"

#include <algorithm>
#include <utility>

#include "common/base/arithmetic.h"

namespace lie {
bool has_signal(const ScoredGroup& group) {
  const auto correct = std::ranges::count(group.scores, VerdictCode::kEqual, &Score::verdict);
  return correct > 0 && correct < std::ssize(group.scores);
}

std::int64_t prompts_of_next_round(std::span<const ScoredGroup> groups, std::int64_t wanted) {
  const std::int64_t found = std::ranges::count_if(groups, has_signal);
  if (found >= wanted) return 0;
  const std::int64_t needed =
      divided_up((wanted - found) * std::ssize(groups), std::max<std::int64_t>(found, 1));
  return std::min(needed, wanted);
}

SelectedGroups select_groups(std::vector<ScoredGroup> groups, std::int64_t wanted) {
  SelectedGroups selected;
  for (ScoredGroup& group : groups) {
    const bool is_wanted = std::ssize(selected.trained) < wanted && has_signal(group);
    (is_wanted ? selected.trained : selected.dropped).push_back(std::move(group));
  }
  return selected;
}

}  // namespace lie
