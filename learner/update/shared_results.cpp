#include "learner/update/shared_results.h"

#include <cstddef>

#include "learner/trainer/shared_values.h"

namespace lie {

PolicyLossStats sum_stats(Collective& learners, std::span<const std::int64_t> own,
                          std::span<PolicyLossStats> by_shard) {
  share_gradient_shards(learners, own, by_shard);
  PolicyLossStats all;
  for (const PolicyLossStats& shard : by_shard) {
    if (shard.tokens > 0) all.merge(shard);
  }
  return all;
}

void share_responses(Collective& learners, std::span<const ScoredGroup> groups,
                     std::span<std::vector<LearnerResult>> results) {
  std::vector<float> values;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t i = 0; i < groups[g].rollout.responses.size(); ++i) {
      LearnerResult& response = results[g][i];
      response.log_probs.resize(groups[g].rollout.responses[i].ids.size(), 0.0F);
      values.insert(values.end(), response.log_probs.begin(), response.log_probs.end());
      values.push_back(response.sequence_log_ratio);
      values.push_back(response.clipped ? 1.0F : 0.0F);
    }
  }
  share_values(learners, values);
  auto next = values.begin();
  for (std::vector<LearnerResult>& group : results) {
    for (LearnerResult& response : group) {
      const auto count = static_cast<std::ptrdiff_t>(response.log_probs.size());
      response.log_probs.assign(next, next + count);
      next += count;
      response.sequence_log_ratio = *next++;
      response.clipped = *next++ != 0.0F;
    }
  }
}

}  // namespace lie
