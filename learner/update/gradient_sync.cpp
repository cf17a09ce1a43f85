#include "learner/update/gradient_sync.h"

namespace lie {
namespace {

/// Calls use(number) for each sum and extreme of a lane.
template <typename Use>
void for_each_number(PolicyLossStats& shard, const Use& use) {
  for (double* sum : shard.sums()) use(*sum);
  for (double* extreme : {&shard.ratio_min, &shard.ratio_max, &shard.max_deviation}) use(*extreme);
}

/// Each lane's numbers reach all learners: those of other learners are 0, so that a sum carries
/// them.
void share_shards(Collective& learners, std::span<PolicyLossStats> by_shard) {
  std::vector<double> values;
  for (PolicyLossStats& shard : by_shard) {
    const bool is_own = shard.tokens > 0;
    for_each_number(shard, [&](double number) { values.push_back(is_own ? number : 0.0); });
  }
  learners.all_reduce_sum(std::span(values));
  auto next = values.begin();
  for (PolicyLossStats& shard : by_shard) {
    for_each_number(shard, [&](double& number) { number = *next++; });
  }
}

}  // namespace

PolicyLossStats sum_stats(Collective& learners, std::span<PolicyLossStats> by_shard) {
  share_shards(learners, by_shard);
  PolicyLossStats all;
  for (const PolicyLossStats& shard : by_shard) {
    if (shard.tokens > 0) all.merge(shard);
  }
  return all;
}

double sum_shards(Collective& learners, std::vector<double> by_shard) {
  learners.all_reduce_sum(std::span(by_shard));
  double sum = 0;
  for (const double shard : by_shard) sum += shard;
  return sum;
}

void share_values(Collective& learners, std::span<float> values) {
  learners.all_reduce_sum(values);
  for (float& value : values) value += 0.0F;  // as the zeros of others make it
}

}  // namespace lie
