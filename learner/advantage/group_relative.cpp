#include "learner/advantage/group_relative.h"

#include "common/base/arithmetic.h"
#include "learner/advantage/group_rewards.h"

namespace lie {
namespace {

/// Returns the divisor of the group's centered rewards. With the leave-one-out baseline it includes
/// a factor: R_i - mean of the others is G / (G - 1) times R_i - mean of all.
double divisor_of(std::span<const double> rewards, const GroupRelativeOptions& options) {
  const double count = static_cast<double>(rewards.size());
  const double spread =
      options.normalize_by_std ? standard_deviation(rewards, mean_of(rewards)) + kStdEpsilon : 1.0;
  return options.leave_one_out ? spread * (count - 1) / count : spread;
}

/// Returns advantages A_i that are sums of the terms' normalized values.
GroupAdvantages per_term_advantages(std::span<const Score> scores,
                                    const GroupRelativeOptions& options) {
  GroupAdvantages result;
  result.values.assign(scores.size(), 0.0);
  result.mass.assign(terms_of(scores), 0.0);
  for (std::size_t term = 0; term < result.mass.size(); ++term) {
    const auto normalized = normalize_rewards(term_column(scores, term), options);
    result.mass[term] = magnitude(normalized);
    for (std::size_t i = 0; i < normalized.size(); ++i) result.values[i] += normalized[i];
  }
  return result;
}

}  // namespace

void describe(FieldList& fields, GroupRelativeOptions& options) {
  fields.add("normalize_by_std", options.normalize_by_std,
             {"Divide by the group's standard deviation (false: Dr. GRPO, arXiv:2503.20783)."});
  fields.rename("normalise_by_std", "normalize_by_std");
  fields.add(
      "per_term", options.per_term,
      {"Normalize each reward term over the group, then add the terms. This is not yet GDPO, "
       "which also weights the terms and divides by the step's standard deviation: "
       "estimator gdpo."});
  fields.add("leave_one_out", options.leave_one_out,
             {"Subtract the mean of the other members instead of the mean of the group."});
}

std::vector<GroupAdvantages> estimated_advantages(const GroupRelativeOptions& options,
                                                  std::span<const ScoredGroup> groups) {
  std::vector<GroupAdvantages> all;
  for (const ScoredGroup& group : groups) all.push_back(group_advantages(group.scores, options));
  return all;
}

std::vector<double> normalize_rewards(std::span<const double> rewards,
                                      const GroupRelativeOptions& options) {
  if (rewards.size() == 1) return {rewards[0]};
  if (rewards.empty() || all_equal(rewards)) return std::vector<double>(rewards.size(), 0.0);
  return centered(rewards, divisor_of(rewards, options));
}

GroupAdvantages group_advantages(std::span<const Score> scores,
                                 const GroupRelativeOptions& options) {
  check_scores(scores);
  if (options.per_term) return per_term_advantages(scores, options);
  const std::vector<double> rewards = total_rewards(scores);
  GroupAdvantages result;
  result.values = normalize_rewards(rewards, options);
  result.mass.assign(terms_of(scores), 0.0);
  if (rewards.size() == 1) {
    for (std::size_t term = 0; term < result.mass.size(); ++term) {
      result.mass[term] = magnitude(term_column(scores, term));
    }
  } else if (!all_equal(rewards)) {
    result.mass = term_masses(scores, divisor_of(rewards, options));
  }
  return result;
}

}  // namespace lie
