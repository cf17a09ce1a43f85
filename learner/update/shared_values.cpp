#include "learner/update/shared_values.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace lie {
namespace {

/// Sends the numbers of every gradient shard to all learners. Learners contribute 0 for the shards
/// of others, so that an all-reduce sum transports the values unchanged.
void share_shards(Collective& learners, std::span<PolicyLossStats> by_shard) {
  using Numbers = PolicyLossStats::Numbers;
  std::vector<Numbers> numbers;
  for (const PolicyLossStats& shard : by_shard) {
    numbers.push_back(shard.tokens > 0 ? std::bit_cast<Numbers>(shard) : Numbers{});
  }
  const std::size_t count = numbers.size() * Numbers().size();
  learners.all_reduce_sum(std::span(numbers.front().data(), count));
  std::ranges::transform(numbers, by_shard.begin(), [](const Numbers& of_shard) {
    return std::bit_cast<PolicyLossStats>(of_shard);
  });
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
