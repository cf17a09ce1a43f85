#include "learner/advantage/pass_at_k.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common/base/error.h"
#include "learner/advantage/group_rewards.h"

namespace lie {
namespace {

/// Returns C(some, k) / C(all, k) for some <= all and k <= all.
double share_of_subsets(std::int64_t some, std::int64_t all, std::int64_t k) {
  double share = 1;
  for (std::int64_t j = 0; j < k; ++j) {
    if (some <= j) return 0;
    share *= static_cast<double>(some - j) / static_cast<double>(all - j);
  }
  return share;
}

GroupAdvantages pass_at_k_advantages(std::span<const Score> scores, std::int64_t k) {
  check_scores(scores);
  const auto n = std::ssize(scores);
  const auto c = std::ranges::count(scores, VerdictCode::kEqual, &Score::verdict);
  GroupAdvantages result = zero_advantages(scores);
  if (c == 0 || n - c < k) return result;
  const double failing = share_of_subsets(n - c, n, k);  // 1 - P
  const double divisor = std::sqrt(failing * (1 - failing)) + kStdEpsilon;
  const double incorrect = failing - share_of_subsets(n - c - 1, n - 1, k - 1);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool correct = scores[i].verdict == VerdictCode::kEqual;
    result.values[i] = (correct ? failing : incorrect) / divisor;
  }
  result.mass.front() = magnitude(result.values);
  return result;
}

}  // namespace

void describe(FieldList& fields, PassAtKOptions& options) {
  fields.add("k", options.k,
             {"Pass@k training: responses of a subset, at most rollout.samples_per_prompt. With 1 "
              "the advantages are those of the accuracy, divided by its standard deviation.",
              "responses", 1});
}

std::int64_t least_group(const PassAtKOptions& options) {
  return std::max<std::int64_t>(options.k, 2);
}

std::string silent_groups(const PassAtKOptions& options, bool) {
  return fmt::format(
      "groups with fewer than {} incorrect responses: lower advantage.pass_at_k.k, or set "
      "rollout.dynamic_sampling.enabled to false",
      options.k);
}

void check_reward_terms(const PassAtKOptions&, std::span<const std::string> terms_on) {
  const auto others = terms_on.subspan(1);  // the first is the accuracy
  if (others.empty()) return;
  fail(
      "advantage.estimator pass_at_k computes advantages from verdicts alone and would ignore the "
      "reward terms {}; set reward.<term>.enabled to false for these, or use another estimator",
      fmt::join(others, ", "));
}

std::vector<GroupAdvantages> estimated_advantages(const PassAtKOptions& options,
                                                  std::span<const ScoredGroup> groups) {
  std::vector<GroupAdvantages> all;
  for (const ScoredGroup& group : groups)
    all.push_back(pass_at_k_advantages(group.scores, options.k));
  return all;
}

}  // namespace lie
