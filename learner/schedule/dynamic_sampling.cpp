#include "learner/schedule/dynamic_sampling.h"

#include <algorithm>
#include <utility>

#include "common/base/arithmetic.h"

namespace lie {

void describe(FieldList& fields, DynamicSamplingOptions& options) {
  fields.add(
      "enabled", options.enabled,
      {.help = "Train only on groups with correct and incorrect responses: others are replaced by "
               "groups of further prompts (DAPO), and logged."});
  fields.add(
      "max_rounds", options.max_rounds,
      {.help = "With it, a step draws prompts at most this often, at most rollout.prompts_per_step "
               "at a time; then it trains on the groups that it has.",
       .unit = "rounds",
       .min = 1});
}

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
