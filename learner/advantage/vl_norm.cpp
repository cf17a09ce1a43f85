#include "learner/advantage/vl_norm.h"

#include <cmath>

#include "common/base/arithmetic.h"
#include "learner/advantage/group_rewards.h"

namespace lie {
namespace {

/// Returns the advantages of a group whose responses have these weights [G].
GroupAdvantages weighted(const VlNormOptions& options, std::span<const Score> scores,
                         std::span<const double> weights) {
  const std::vector<double> rewards = total_rewards(scores);
  GroupAdvantages result = zero_advantages(scores);
  if (all_equal(rewards)) return result;
  const double divisor =
      options.normalize_by_std ? standard_deviation(rewards, mean_of(rewards)) + kStdEpsilon : 1.0;
  result.values = centered(rewards, divisor);
  for (std::size_t i = 0; i < weights.size(); ++i) result.values[i] *= weights[i];
  for (std::size_t term = 0; term < result.mass.size(); ++term) {
    const std::vector<double> column = term_column(scores, term);
    if (all_equal(column)) continue;
    const std::vector<double> parts = centered(column, divisor);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      result.mass[term] += std::abs(parts[i]) * weights[i];
    }
  }
  return result;
}

}  // namespace

void describe(FieldList& fields, VlNormOptions& options) {
  fields.add("alpha", options.alpha,
             {"VL Normalization: exponent of the length. The paper uses 0.75 for mathematics and 1 "
              "for CountDown; 0: weights of 1.",
              "", 0});
  fields.add("normalize_by_std", options.normalize_by_std,
             {"VL Normalization: divide by the group's standard deviation."});
}

std::vector<double> length_weights(std::span<const double> lengths, double alpha) {
  const double mean = mean_of(lengths);
  std::vector<double> weights;
  for (const double length : lengths) weights.push_back(std::pow(length / mean, -alpha));
  const double mean_weight = mean_of(weights);
  for (double& weight : weights) weight /= mean_weight;
  return weights;
}

std::vector<GroupAdvantages> estimated_advantages(const VlNormOptions& options,
                                                  std::span<const ScoredGroup> groups) {
  std::vector<double> lengths;  // of the step
  for (const ScoredGroup& group : groups) {
    check_scores(group.scores);
    const std::vector<double> own = lengths_of(group);
    lengths.insert(lengths.end(), own.begin(), own.end());
  }
  std::vector<GroupAdvantages> all;
  if (lengths.empty()) return all;
  const std::vector<double> weights = length_weights(lengths, options.alpha);
  std::size_t begin = 0;
  for (const ScoredGroup& group : groups) {
    const std::size_t members = group.scores.size();
    all.push_back(weighted(options, group.scores, std::span(weights).subspan(begin, members)));
    begin += members;
  }
  return all;
}

}  // namespace lie
