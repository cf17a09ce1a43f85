#include "learner/advantage/maxrl.h"

#include <algorithm>

#include "learner/advantage/group_rewards.h"

namespace lie {
namespace {

/// Returns (x_i - mean x) / divisor.
std::vector<double> centered_by(std::span<const double> values, double divisor) {
  const double mean = mean_reward(values);
  std::vector<double> result;
  for (const double value : values) result.push_back((value - mean) / divisor);
  return result;
}

double accuracy_of(std::span<const Score> scores) {
  const auto correct = std::ranges::count(scores, VerdictCode::kEqual, &Score::verdict);
  return static_cast<double>(correct) / static_cast<double>(scores.size());
}

GroupAdvantages advantages_of(std::span<const Score> scores) {
  check_scores(scores);
  GroupAdvantages result;
  result.values.assign(scores.size(), 0.0);
  result.mass.assign(terms_of(scores), 0.0);
  const std::vector<double> rewards = total_rewards(scores);
  const double accuracy = accuracy_of(scores);
  if (accuracy == 0 || all_equal(rewards)) return result;
  result.values = centered_by(rewards, accuracy);
  for (std::size_t term = 0; term < result.mass.size(); ++term) {
    const std::vector<double> column = term_column(scores, term);
    if (!all_equal(column)) result.mass[term] = magnitude(centered_by(column, accuracy));
  }
  return result;
}

}  // namespace

void describe(FieldList&, MaxRlOptions&) {}

std::vector<GroupAdvantages> estimated_advantages(const MaxRlOptions&,
                                                  std::span<const ScoredGroup> groups) {
  std::vector<GroupAdvantages> all;
  for (const ScoredGroup& group : groups) all.push_back(advantages_of(group.scores));
  return all;
}

}  // namespace lie
