// The sum of a mini-batch's gradient in the tree of gradient shards, over the workers of a learner
// and over all learners.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/trainer/gradient_shards.h"
#include "model/operators/operators.h"

namespace lie {

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
  /// free afterwards stays free. A pass reads `read_elements` of weights, which are more than
  /// `elements` if some are frozen. Both references must outlive this object. Throws Error if there
  /// are more learners than `max_shards`.
  GradientShardSum(Operators& operators, Collective& learners, std::int64_t elements,
                   std::int64_t max_shards, std::int64_t read_elements);
  /// As above, if all weights are trained.
  GradientShardSum(Operators& operators, Collective& learners, std::int64_t elements,
                   std::int64_t max_shards)
      : GradientShardSum(operators, learners, elements, max_shards, elements) {}

  /// Returns the workers that compute shards at the same time: operators.workers(read_elements)
  /// if this learner can have at least one shard per worker, otherwise just the operators.
  const std::vector<Operators*>& workers() const { return workers_; }
  /// Returns the number of tokens of a training pass: `most`, or fewer if that is faster. Results
  /// do not depend on it (E4).
  std::int64_t pass_tokens(std::int64_t most) const {
    return std::min(most, workers_.front()->most_pass_tokens(read_elements_));
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
  /// Returns this learner's optimizer shard (learner/trainer/optimizer_shards.h), [1, count], of
  /// the sum over all gradient shards of all learners. Valid until run(). Collective; blocks.
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
  std::int64_t elements_, read_elements_;
  std::int64_t chunk_;  // elements that are exchanged at a time
  std::vector<Operators*> workers_;
  std::int64_t shard_count_ = 0;
  std::vector<Stack> stacks_;     // one per worker; the first one collects all in the end
  std::vector<Node> nodes_;       // of all learners after run(), ascending
  std::vector<Buffer> received_;  // chunks of other learners' nodes
};

/// Returns the fp32 elements that GradientShardSum allocates on the learner that needs most, if
/// `chunk` elements are exchanged at a time.
std::int64_t gradient_shard_sum_elements(std::int64_t elements, std::int64_t max_shards,
                                         int learners, std::int64_t chunk);

}  // namespace lie
