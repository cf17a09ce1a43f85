#include "learner/trainer/gradient_shards.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace lie {

GradientShardRange gradient_shards_of_learner(std::int64_t shard_count, int learner, int learners) {
  const std::int64_t first = shard_count * learner / learners;
  return {first, shard_count * (learner + 1) / learners - first};
}

std::vector<std::int64_t> shards_of_learner(ShardDealing dealing, std::int64_t shard_count,
                                            int learner, int learners) {
  const GradientShardRange range = gradient_shards_of_learner(shard_count, learner, learners);
  const bool is_range = dealing == ShardDealing::kRanges;
  const std::int64_t end = is_range ? range.first + range.count : shard_count;
  std::vector<std::int64_t> shards;
  for (std::int64_t shard = is_range ? range.first : learner; shard < end;
       shard += is_range ? 1 : learners) {
    shards.push_back(shard);
  }
  return shards;
}

std::vector<GradientShardRange> gradient_shards_of_workers(GradientShardRange own,
                                                           std::int64_t workers) {
  const auto count = static_cast<int>(std::clamp<std::int64_t>(own.count, 1, workers));
  std::vector<GradientShardRange> parts;
  for (int worker = 0; worker < count; ++worker) {
    const GradientShardRange part = gradient_shards_of_learner(own.count, worker, count);
    parts.push_back({own.first + part.first, part.count});
  }
  return parts;
}

bool are_halves(std::int64_t shard_count, GradientShardRange left, GradientShardRange right) {
  GradientShardRange node = {0, shard_count};
  while (node.count > 1) {
    const auto half =
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(node.count - 1)));
    const GradientShardRange first = {node.first, half},
                             second = {node.first + half, node.count - half};
    if (left == first && right == second) return true;
    node = left.first < second.first ? first : second;
  }
  return false;
}

std::vector<GradientShardRange> nodes_of(std::int64_t shard_count, GradientShardRange range) {
  std::vector<GradientShardRange> nodes;
  for (std::int64_t i = 0; i < range.count; ++i) {
    nodes.push_back({range.first + i, 1});
    join_halves(shard_count, nodes, [](std::size_t) {});
  }
  return nodes;
}

std::int64_t values_held(std::int64_t shard_count, GradientShardRange range) {
  std::int64_t most = 0;
  for (std::int64_t count = 0; count < range.count; ++count) {
    most = std::max(most, std::ssize(nodes_of(shard_count, {range.first, count})) + 1);
  }
  return most;
}

}  // namespace lie
