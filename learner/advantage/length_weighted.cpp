#include "learner/advantage/length_weighted.h"

#include <numeric>

#include "learner/advantage/group_rewards.h"

namespace lie {
namespace {

GroupAdvantages length_weighted_advantages(const ScoredGroup& group) {
  check_scores(group.scores);
  if (all_equal(total_rewards(group.scores))) return zero_advantages(group.scores);
  const std::vector<double> lengths = lengths_of(group);
  const double tokens = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  std::vector<double> baselines;  // of each term
  for (std::size_t term = 0; term < terms_of(group.scores); ++term) {
    const std::vector<double> column = term_column(group.scores, term);
    baselines.push_back(std::inner_product(column.begin(), column.end(), lengths.begin(), 0.0) /
                        tokens);
  }
  return minus_terms(group.scores, baselines);
}

}  // namespace

void describe(FieldList&, LengthWeightedOptions&) {}

std::vector<GroupAdvantages> estimated_advantages(const LengthWeightedOptions&,
                                                  std::span<const ScoredGroup> groups) {
  std::vector<GroupAdvantages> all;
  for (const ScoredGroup& group : groups) all.push_back(length_weighted_advantages(group));
  return all;
}

}  // namespace lie
