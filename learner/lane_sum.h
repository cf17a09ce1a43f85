// A mini-batch's gradient, added lane by lane in the tree of learner/lane_tree.h. Of one learner it
// holds log2(lanes) + 1 partial gradients; of as many learners as lanes each holds one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/comm/collective.h"
#include "learner/lane_tree.h"
#include "model/operators.h"

namespace lie {

class LaneSum {
 public:
  /// Of gradients [1, elements] in the memory of `operators`, taken at once, so that what is free
  /// then stays so. Both outlive it. Throws Error if
  /// there are more learners than `most_lanes`; `key` is where that is set.
  LaneSum(Operators& operators, Collective& learners, std::int64_t elements,
          std::int64_t most_lanes, std::string_view key);

  /// Begins a mini-batch of `lanes` >= 1 lanes; returns those of this learner.
  LaneRange begin(std::int64_t lanes);
  /// Its first [1, elements], which hold nothing from the last use of what sum() returned until
  /// next().
  Tensor idle() { return value(0); }
  /// Zeros [1, elements], to which the gradient of this learner's next lane is to be added before
  /// the call that follows.
  Tensor next();
  /// This learner's shard (learner/shards.h), [1, count], of the sum of all lanes over all
  /// learners, until begin(). Collective; blocks. Call it when next() has been called for every
  /// lane of this learner.
  Tensor sum();

 private:
  /// A node of the tree that is whole on one learner: number `number` of its nodes.
  struct Node {
    LaneRange lanes;
    int learner = 0;
    std::size_t number = 0;
  };
  Tensor value(std::size_t i);
  void join();
  Tensor part_of(Tensor whole, int learner, std::int64_t done) const;
  std::vector<Tensor> exchange_part(std::int64_t done);
  void add_part(std::int64_t done);

  Operators& operators_;
  Collective& learners_;
  std::int64_t elements_;
  std::int64_t lanes_ = 0;
  LaneRange own_;
  std::vector<LaneRange> own_nodes_;  // so far, in order; their sums are the first of values_
  std::vector<Node> nodes_;           // of all learners when all lanes are there, in order
  std::vector<Buffer> values_;        // [1, elements] each; none is given back
  std::vector<Buffer> arrived_;       // parts of other learners' nodes
};

}  // namespace lie
