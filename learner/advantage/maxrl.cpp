#include "learner/advantage/maxrl.h"

#include <algorithm>

#include "learner/advantage/group_rewards.h"

namespace lie {
namespace {

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
  return {centered(rewards, accuracy), term_masses(scores, accuracy)};
}

}  // namespace

void describe(FieldList&, MaxRlOptions&) {}

std::string silent_groups(const MaxRlOptions&, bool by_reward) {
  if (!by_reward) return "";
  return "groups without a correct response: set rollout.dynamic_sampling.signal to accuracy";
}

std::vector<GroupAdvantages> estimated_advantages(const MaxRlOptions&,
                                                  std::span<const ScoredGroup> groups) {
  std::vector<GroupAdvantages> all;
  for (const ScoredGroup& group : groups) all.push_back(advantages_of(group.scores));
  return all;
}

}  // namespace lie
