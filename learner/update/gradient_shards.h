// Sums the gradient of a mini-batch in a fixed tree (invariant E4: results do not depend on the
// number of learners). A mini-batch's sequences are dealt to gradient shards
// (learner/update/batch.h), which are the leaves of a binary tree. The number of shards alone
// determines the tree: the left child of a node with c shards has the largest power of two below c.
// A learner owns a contiguous range of shards and adds every node that its range contains. The
// remaining nodes are added across learners in the same tree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/loss/policy_loss.h"
#include "model/operators/operators.h"
#include "model/transformer/training_memory.h"
#include "model/transformer/transformer.h"

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

/// One gradient shard of this learner, as the worker that computes it sees it.
struct GradientShardWork {
  std::int64_t worker = 0;
  std::int64_t shard = 0, number = 0;  // index among all shards, and among this learner's
  Tensor gradient = {};                // [1, elements], zeros; the worker adds the shard's gradient
};

/// Sums the gradient of a mini-batch, one gradient shard after another. A run with one learner
/// holds log2(shards) + 1 partial gradients, and each of its workers the partial gradients of its
/// own shards. With as many learners as shards, each learner holds one.
class GradientShardSum {
 public:
  /// Allocates all partial gradients [1, elements] in `operators` at once, so that memory that is
  /// free afterwards stays free. Both references must outlive this object. Throws Error, naming the
  /// config key `key`, if there are more learners than `max_shards`.
  GradientShardSum(Operators& operators, Collective& learners, std::int64_t elements,
                   std::int64_t max_shards, std::string_view key);

  /// Returns the workers that compute shards at the same time. They are operators.workers(elements)
  /// if this learner can have at least one shard per worker, otherwise just the operators.
  const std::vector<Operators*>& workers() const { return workers_; }
  /// Returns the number of tokens of a training pass: `most`, or fewer if that is faster. Results
  /// do not depend on it (E4).
  std::int64_t pass_tokens(std::int64_t most) const {
    return std::min(most, workers_.front()->most_pass_tokens(elements_));
  }
  /// Calls work(), without a gradient, for each of this learner's shards, of `shard_count` >= 1
  /// over all learners. Workers run at the same time, each over its own shards in ascending order.
  /// Worker 0 runs on the caller's thread. Throws what work() throws.
  void for_each_shard(std::int64_t shard_count,
                      const std::function<void(const GradientShardWork&)>& work);
  /// As for_each_shard(), with a gradient for each shard. Starts the sum of a new mini-batch.
  void run(std::int64_t shard_count, const std::function<void(const GradientShardWork&)>& work);
  /// Returns the first partial gradient, [1, elements], as scratch memory. It is free from the last
  /// use of sum()'s result until the next run().
  Tensor scratch() { return value(stacks_.front(), 0); }
  /// Returns this learner's optimizer shard (learner/update/optimizer.h), [1, count], of the
  /// sum over all gradient shards of all learners. Valid until run(). Collective; blocks.
  Tensor sum();

 private:
  /// A node of the tree that one learner holds completely, as number `number` of its nodes.
  struct Node {
    GradientShardRange shards;
    int learner = 0;
    std::size_t number = 0;
  };
  struct Stack {
    std::vector<GradientShardRange> nodes;  // ascending; values[i] is the sum of nodes[i]
    std::vector<Buffer> values;             // [1, elements] each; kept for reuse
  };
  Tensor value(Stack& stack, std::size_t i);
  void join(Stack& stack, Operators& operators);
  Tensor begin_shard(const GradientShardWork& work);
  void join_workers();
  Tensor chunk_of(Tensor whole, int learner, std::int64_t done) const;
  std::vector<Tensor> exchange_chunk(std::int64_t done);
  void add_chunk(std::int64_t done);

  Operators& operators_;
  Collective& learners_;
  std::int64_t elements_;
  std::vector<Operators*> workers_;
  std::int64_t shard_count_ = 0;
  std::vector<Stack> stacks_;     // one per worker; the first one collects all in the end
  std::vector<Node> nodes_;       // of all learners after run(), ascending
  std::vector<Buffer> received_;  // chunks of other learners' nodes
};

// Reductions over learners after a mini-batch, other than the gradient itself. Every function is
// collective over the learners and blocks. Results are bit-identical for any number of learners.

/// Returns the sums and extremes over all gradient shards, added in ascending order, on every
/// learner. `by_shard` has one element per shard of the mini-batch; a learner leaves the elements
/// of other learners' shards as constructed.
PolicyLossStats sum_stats(Collective& learners, std::span<PolicyLossStats> by_shard);

/// Returns the sum over all gradient shards, added in ascending order. A learner passes 0 for the
/// shards of other learners.
double sum_shards(Collective& learners, std::vector<double> by_shard);

/// Makes all elements of `values` known to every learner. Each learner passes its own elements and
/// 0 for all others. An element of -0 becomes 0.
void share_values(Collective& learners, std::span<float> values);

/// One policy for several workers that compute with it at the same time.
class WorkerPolicies {
 public:
  /// Uses `policy` itself for a single worker. For several workers it makes one Transformer each,
  /// which shares the weights of `policy`. `workers` are the policy's operators or workers of them.
  /// `policy` must outlive this object. Together the workers hold at most `activation_bytes` of
  /// activations; 0 is the default of Transformer::limit_training_bytes().
  WorkerPolicies(const std::vector<Operators*>& workers, Transformer& policy,
                 std::int64_t activation_bytes)
      : policy_(policy) {
    policy.limit_training_bytes(activation_bytes);
    if (workers.size() == 1) return;
    const std::int64_t bytes = activation_bytes > 0 ? activation_bytes : kTrainingBytes;
    for (Operators* worker : workers) {
      copies_.push_back(policy.with_shared_weights(*worker));
      copies_.back().limit_training_bytes(bytes / std::ssize(workers));
    }
  }

  Transformer& of(std::int64_t worker) {
    return copies_.empty() ? policy_ : copies_[static_cast<std::size_t>(worker)];
  }

 private:
  Transformer& policy_;
  std::vector<Transformer> copies_;  // one per worker, without weights of their own; empty for one
};

}  // namespace lie
