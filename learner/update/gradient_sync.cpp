#include "learner/update/gradient_sync.h"

namespace lie {
namespace {

/// Calls use(number) for each sum and extreme of one gradient shard.
template <typename Use>
void for_each_number(PolicyLossStats& shard, const Use& use) {
  for (double* sum : shard.sums()) use(*sum);
  for (double* extreme : {&shard.ratio_min, &shard.ratio_max, &shard.max_deviation}) use(*extreme);
}

/// Sends the numbers of every gradient shard to all learners. Learners contribute 0 for the shards
/// of others, so that an all-reduce sum transports the values unchanged.
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
  for (float& value : values)
    value += 0.0F;  // turns -0 into 0, as adding other learners' zeros does
}

}  // namespace lie
