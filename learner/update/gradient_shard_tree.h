// The order in which the gradients of a mini-batch are added (invariant E4). Its sequences are
// dealt to lanes (learner/update/batch.h), which are the leaves of a binary tree that their number
// alone determines: the left half of a node of c lanes has the largest power of two below c. A
// learner has a contiguous range of lanes and adds what is whole in it;
// learner/update/gradient_shard_sum.h adds the rest in the same tree, so that no bit depends on the
// number of learners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lie {

/// The lanes [first, first + count): a node of the tree, or a learner's range.
struct GradientShardRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool operator==(const GradientShardRange&) const = default;
};

/// The lanes of a learner: ranges in the order of learners, of counts that differ by at most 1.
GradientShardRange gradient_shards_of_learner(std::int64_t shard_count, int learner, int learners);

/// The same for `workers` of one learner: parts of its lanes, of which none is empty but of no
/// lanes.
std::vector<GradientShardRange> gradient_shards_of_workers(GradientShardRange own,
                                                           std::int64_t workers);

/// Whether the two, in this order, are the halves of a node in the tree of `lanes`.
bool are_halves(std::int64_t shard_count, GradientShardRange left, GradientShardRange right);

/// While the last two of `nodes`, which are in order, are halves of one node: calls add(i), which
/// adds value i + 1 to value i, and puts the node in their place.
template <typename Add>
void join_halves(std::int64_t shard_count, std::vector<GradientShardRange>& nodes, const Add& add) {
  while (nodes.size() >= 2 && are_halves(shard_count, nodes[nodes.size() - 2], nodes.back())) {
    add(nodes.size() - 2);
    nodes[nodes.size() - 2].count += nodes.back().count;
    nodes.pop_back();
  }
}

/// What remains of the lanes of `range` when all that is whole in it has been joined, in order.
std::vector<GradientShardRange> nodes_of(std::int64_t shard_count, GradientShardRange range);

/// How many values are held at once, at the most, where those of `range` are joined in order.
std::int64_t values_held(std::int64_t shard_count, GradientShardRange range);

}  // namespace lie
