#include "learner/advantage/batch_normalized.h"

#include "common/base/arithmetic.h"
#include "learner/advantage/group_rewards.h"

namespace lie {
namespace {

/// Returns the rewards of all groups, each minus the baseline, as advantages with masses.
std::vector<GroupAdvantages> centered_groups(const BatchNormalizedOptions& options,
                                             std::span<const ScoredGroup> groups) {
  std::vector<GroupAdvantages> all;
  if (options.baseline == BaselineOf::kGroup) {
    for (const ScoredGroup& group : groups) {
      const std::vector<double> rewards = total_rewards(group.scores);
      all.push_back(all_equal(rewards)
                        ? zero_advantages(group.scores)
                        : GroupAdvantages{centered(rewards, 1.0), term_masses(group.scores, 1.0)});
    }
    return all;
  }
  std::vector<Score> step;
  for (const ScoredGroup& group : groups) {
    step.insert(step.end(), group.scores.begin(), group.scores.end());
  }
  const bool equal = all_equal(total_rewards(step));
  std::vector<double> means;
  for (std::size_t term = 0; term < terms_of(step); ++term) {
    means.push_back(mean_of(term_column(step, term)));
  }
  for (const ScoredGroup& group : groups) {
    all.push_back(equal ? zero_advantages(group.scores) : minus_terms(group.scores, means));
  }
  return all;
}

}  // namespace

void describe(FieldList& fields, BatchNormalizedOptions& options) {
  fields.add(
      "baseline", options.baseline, {{"group", BaselineOf::kGroup}, {"step", BaselineOf::kStep}},
      {"Responses whose mean reward is subtracted: those of the group, or all of the step."});
  fields.add("std_of", options.std_of,
             {{"rewards", SpreadOf::kRewards}, {"advantages", SpreadOf::kAdvantages}},
             {"Standard deviation over the step that divides: of the rewards, or of the rewards "
              "minus their baseline. With baseline step the two are equal."});
}

std::int64_t least_group(const BatchNormalizedOptions& options) {
  return compares_groups(options) ? 1 : 2;
}

bool compares_groups(const BatchNormalizedOptions& options) {
  return options.baseline == BaselineOf::kStep;
}

std::vector<GroupAdvantages> estimated_advantages(const BatchNormalizedOptions& options,
                                                  std::span<const ScoredGroup> groups) {
  std::vector<double> rewards, advantages;  // of the step
  for (const ScoredGroup& group : groups) {
    check_scores(group.scores);
    const std::vector<double> own = total_rewards(group.scores);
    rewards.insert(rewards.end(), own.begin(), own.end());
  }
  if (rewards.empty()) return {};
  std::vector<GroupAdvantages> all = centered_groups(options, groups);
  for (const GroupAdvantages& group : all) {
    advantages.insert(advantages.end(), group.values.begin(), group.values.end());
  }
  const double spread = options.std_of == SpreadOf::kRewards
                            ? standard_deviation(rewards, mean_of(rewards))
                            : standard_deviation(advantages, 0.0);
  divide(all, spread + kStdEpsilon);
  return all;
}

}  // namespace lie
