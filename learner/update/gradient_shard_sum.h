// A mini-batch's gradient, added lane by lane in the tree of learner/update/gradient_shard_tree.h.
// Of one learner it holds log2(lanes) + 1 partial gradients, and each of its workers those of its
// own lanes; of as many learners as lanes each holds one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/update/gradient_shard_tree.h"
#include "model/operators/operators.h"

namespace lie {

/// A lane of this learner, for who computes it.
struct GradientShardWork {
  std::int64_t worker = 0;
  std::int64_t shard = 0, number = 0;  // of all lanes, and among this learner's
  Tensor gradient = {};                // [1, elements], zeros, to which the lane's is to be added
};

class GradientShardSum {
 public:
  /// Of gradients [1, elements] in the memory of `operators`, taken at once, so that what is free
  /// then stays so. Both outlive it. Throws Error if there are more learners than
  /// `max_shards`; `key` is where that is set.
  GradientShardSum(Operators& operators, Collective& learners, std::int64_t elements,
                   std::int64_t max_shards, std::string_view key);

  /// Those that compute lanes at the same time: operators.workers(elements) if this learner may
  /// have a lane for each, else the operators alone.
  const std::vector<Operators*>& workers() const { return workers_; }
  /// Tokens of a training pass: `most`, or fewer where that is faster. Changes no bit (E4).
  std::int64_t pass_tokens(std::int64_t most) const {
    return std::min(most, workers_.front()->most_pass_tokens(elements_));
  }
  /// Calls work() for each of this learner's of `lanes` >= 1 lanes: its workers at the same time,
  /// each for lanes of its own in order, number 0 on the caller's thread. Throws what work()
  /// throws. Without gradients.
  void for_each_shard(std::int64_t shard_count,
                      const std::function<void(const GradientShardWork&)>& work);
  /// The same with gradients, which begin a mini-batch.
  void run(std::int64_t shard_count, const std::function<void(const GradientShardWork&)>& work);
  /// Its first [1, elements], which hold nothing from the last use of what sum() returned until
  /// run().
  Tensor scratch() { return value(stacks_.front(), 0); }
  /// This learner's shard (learner/update/optimizer_shards.h), [1, count], of the sum of all lanes
  /// over all learners, until run(). Collective; blocks.
  Tensor sum();

 private:
  /// A node of the tree that is whole on one learner: number `number` of its nodes.
  struct Node {
    GradientShardRange shards;
    int learner = 0;
    std::size_t number = 0;
  };
  /// What one worker has added so far.
  struct Stack {
    std::vector<GradientShardRange> nodes;  // in order; their sums are the first of `values`
    std::vector<Buffer> values;             // [1, elements] each; none is given back
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
  std::vector<Stack> stacks_;     // of the workers; in the end the first has all
  std::vector<Node> nodes_;       // of all learners when all lanes are there, in order
  std::vector<Buffer> received_;  // parts of other learners' nodes
};

}  // namespace lie
