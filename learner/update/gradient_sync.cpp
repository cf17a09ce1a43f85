#include "learner/update/gradient_sync.h"

namespace lie {
namespace {

/// Calls use(number) for each sum and extreme of a lane.
template <typename Use>
void over_numbers(PolicyLossStats& gradient_shard, const Use& use) {
  for (double* sum : gradient_shard.sums()) use(*sum);
  for (double* extreme :
       {&gradient_shard.ratio_min, &gradient_shard.ratio_max, &gradient_shard.max_deviation})
    use(*extreme);
}

/// Each lane's numbers reach all learners: those of other learners are 0, so that a sum carries
/// them.
void share_lanes(Collective& learners, std::span<PolicyLossStats> by_gradient_shard) {
  std::vector<double> values;
  for (PolicyLossStats& gradient_shard : by_gradient_shard) {
    const bool is_own = gradient_shard.tokens > 0;
    over_numbers(gradient_shard, [&](double number) { values.push_back(is_own ? number : 0.0); });
  }
  learners.all_reduce_sum(std::span(values));
  auto next = values.begin();
  for (PolicyLossStats& gradient_shard : by_gradient_shard) {
    over_numbers(gradient_shard, [&](double& number) { number = *next++; });
  }
}

}  // namespace

PolicyLossStats sum_stats(Collective& learners, std::span<PolicyLossStats> by_gradient_shard) {
  share_lanes(learners, by_gradient_shard);
  PolicyLossStats all;
  for (const PolicyLossStats& gradient_shard : by_gradient_shard) {
    if (gradient_shard.tokens > 0) all.merge(gradient_shard);
  }
  return all;
}

double sum_gradient_shards(Collective& learners, std::vector<double> by_gradient_shard) {
  learners.all_reduce_sum(std::span(by_gradient_shard));
  double sum = 0;
  for (const double gradient_shard : by_gradient_shard) sum += gradient_shard;
  return sum;
}

void share_values(Collective& learners, std::span<float> values) {
  learners.all_reduce_sum(values);
  for (float& value : values) value += 0.0F;  // as the zeros of others make it
}

}  // namespace lie
