#include "learner/trainer/optimizer_shards.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "common/base/arithmetic.h"

namespace lie {

FlatRange optimizer_shard_of(std::int64_t elements, int learner, int learners) {
  const std::int64_t blocks = optimizer_shard_blocks(elements);
  const auto cut = [&](std::int64_t i) {
    return std::min(elements, blocks * i / learners * kOptimizerShardBlock);
  };
  return {cut(learner), cut(learner + 1) - cut(learner)};
}

std::int64_t longest_optimizer_shard(std::int64_t elements, int learners) {
  std::int64_t longest = 0;
  for (int learner = 0; learner < learners; ++learner) {
    longest = std::max(longest, optimizer_shard_of(elements, learner, learners).count);
  }
  return longest;
}

FlatRange part_of_learner(FlatRange range, int learner, int learners) {
  const FlatRange within = optimizer_shard_of(range.count, learner, learners);
  return {range.first + within.first, within.count};
}

std::int64_t optimizer_shard_blocks(std::int64_t elements) {
  return divided_up(elements, kOptimizerShardBlock);
}

std::int64_t chunk_elements(const Operators& operators) {
  return operators.place().is_host() ? kHostChunk : kDeviceChunk;
}

FlatRange chunk_of_optimizer_shard(FlatRange shard, std::int64_t done, std::int64_t most) {
  const std::int64_t begin = std::min(done, shard.count);
  return {shard.first + begin, std::min(most, shard.count - begin)};
}

FlatRange own_optimizer_shard(const Weights& weights, const Collective& learners) {
  return optimizer_shard_of(flat_elements(weights.parameters()), learners.rank(), learners.size());
}

double gradient_norm(Collective& learners, Operators& operators, Tensor shard,
                     std::int64_t elements) {
  const auto blocks = [](std::int64_t count) {
    return static_cast<std::size_t>(optimizer_shard_blocks(count));
  };
  std::vector<double> sums(blocks(elements));
  const FlatRange own = optimizer_shard_of(elements, learners.rank(), learners.size());
  operators.sums_of_squares(shard, kOptimizerShardBlock,
                            std::span(sums).subspan(blocks(own.first), blocks(own.count)));
  learners.all_reduce_sum(std::span(sums));  // blocks of other learners are 0 here
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

void gather_optimizer_shards(Collective& learners, const Weights& weights, Tensor all) {
  const int size = learners.size();
  if (size == 1) return;
  Operators& operators = weights.operators();
  const std::int64_t chunk = chunk_elements(operators);
  const auto part = [&](int learner, std::int64_t done) {
    return chunk_of_optimizer_shard(optimizer_shard_of(all.elements(), learner, size), done, chunk);
  };
  const std::int64_t longest = longest_optimizer_shard(all.elements(), size);
  std::vector<DeviceSpan> in(static_cast<std::size_t>(size));
  for (std::int64_t done = 0; done < longest; done += chunk) {
    for (int learner = 0; learner < size; ++learner) {
      const FlatRange range = part(learner, done);
      in[static_cast<std::size_t>(learner)] =
          operators.span(all.elements_at(range.first, range.count));
    }
    const Tensor own = weights.elements(part(learners.rank(), done));
    learners.exchange(std::vector<DeviceSpan>(in.size(), operators.span(own)), in);
  }
  if (weights.is_complete()) return;
  const FlatRange held = weights.shard();  // exceeds the shard: it ends where a parameter ends
  operators.copy(all.elements_at(held.first, held.count), weights.flat());
}

}  // namespace lie
