// The fixed tree in which a mini-batch's gradient is summed (invariant E4: results do not depend on
// the number of learners). A mini-batch's sequences are dealt to gradient shards
// (learner/trainer/packing.h), which are the leaves of a binary tree. The number of shards alone
// determines the tree: the left child of a node with c shards has the largest power of two below c.
// A learner owns a contiguous range of shards and adds every node that its range contains. The
// remaining nodes are added across learners in the same tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lie {

/// The gradient shards [first, first + count): a node of the tree, or the shards of one learner.
struct GradientShardRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool operator==(const GradientShardRange&) const = default;
};

/// Returns the shards of one learner. Ranges ascend with the learner, and their counts differ by
/// at most 1.
GradientShardRange gradient_shards_of_learner(std::int64_t shard_count, int learner, int learners);

/// How the shards are divided among the learners: as ranges, or learner j of n has the shards j,
/// j + n, j + 2 n and so on, which is the order of learner/trainer/gradient_rounds.h.
enum class ShardDealing : std::uint8_t { kRanges, kInterleaved };

/// Returns the shards of one learner, ascending.
std::vector<std::int64_t> shards_of_learner(ShardDealing dealing, std::int64_t shard_count,
                                            int learner, int learners);

/// Divides a learner's shards among at most `workers` workers in the same way. No returned range is
/// empty, unless the learner has no shards; then one empty range is returned.
std::vector<GradientShardRange> gradient_shards_of_workers(GradientShardRange own,
                                                           std::int64_t workers);

/// Returns whether `left` and `right` are the two children of one node in the tree of
/// `shard_count` shards.
bool are_halves(std::int64_t shard_count, GradientShardRange left, GradientShardRange right);

/// Merges the last two of `nodes`, which ascend, as long as they are the children of one node. For
/// each merge it calls add(i), which must add value i + 1 to value i.
template <typename Add>
void join_halves(std::int64_t shard_count, std::vector<GradientShardRange>& nodes, const Add& add) {
  while (nodes.size() >= 2 && are_halves(shard_count, nodes[nodes.size() - 2], nodes.back())) {
    add(nodes.size() - 2);
    nodes[nodes.size() - 2].count += nodes.back().count;
    nodes.pop_back();
  }
}

/// Returns the nodes that remain, in ascending order, after all merges within `range`.
std::vector<GradientShardRange> nodes_of(std::int64_t shard_count, GradientShardRange range);

/// Returns the largest number of values held at one time while the shards of `range` are added in
/// ascending order.
std::int64_t values_held(std::int64_t shard_count, GradientShardRange range);

}  // namespace lie
