// The sum of a mini-batch's gradient in rounds of micro-batches, layer by layer, so that no learner
// holds a whole gradient (ZeRO stages 2 and 3, arXiv:1910.02054).
//
// Round r consists of micro-batch r of every gradient shard that has one. Learner j of n computes
// the shards j, j + n, j + 2 n, ... one after the other. As soon as a backward pass has the
// gradient of a layer, each learner sends each slice of it (learner/trainer/gradient_slices.h) to
// the learner that holds the slice, and that learner adds what it receives. The exchange overlaps
// the backward pass of the next layer if the collective can.
//
// A slice is the sum over (round, shard) in ascending order, one after the other. This order does
// not depend on the number of learners. It depends on the division into micro-batches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/trainer/gradient_slices.h"
#include "learner/trainer/layer_buffer.h"
#include "learner/trainer/layer_ranges.h"
#include "learner/trainer/layer_shards.h"
#include "learner/trainer/packing.h"
#include "model/layers/gradient_sink.h"
#include "model/operators/operators.h"

namespace lie {

class GradientRounds final : private GradientSink {
 public:
  /// Allocates all memory in `operators`. Throws Error if there are more learners than
  /// `max_shards`. In stage 3 the passes read `weights`; in stage 2 it is null. All of them must
  /// outlive this object.
  GradientRounds(Operators& operators, Collective& learners, std::span<const Parameter> layout,
                 std::int64_t max_shards, LayerShards* weights = nullptr);

  using Work = std::function<void(const MicroBatch&, std::int64_t shard, GradientSink& gradient)>;
  /// Calls work() for each micro-batch of this learner, in the order of rounds, and sums the
  /// gradients that it adds to the sink, by one backward pass or none. Starts the sum of a new
  /// mini-batch. A learner without a micro-batch takes part in the exchanges of the others with no
  /// elements. Collective; blocks.
  void run(const PackedGradientShards& shards, const Work& work);
  /// Returns the Euclidean norm of the sum. Collective; blocks.
  double norm();

  using UsePart = std::function<void(FlatRange part, Tensor gradient)>;
  /// Calls use() for the parts of this learner's optimizer shard in ascending order. `part` is a
  /// range of the flat order; its gradient [1, count] is valid during the call. Collective; blocks.
  void for_each_part(const UsePart& use);

  const LayerRanges& layers() const { return layers_; }
  /// Returns the memory for the gradient of a layer, which is free between run() and run().
  LayerBuffer& buffer(std::int64_t layer) {
    return layer == kNoLayer ? outer_ : buffers_[static_cast<std::size_t>(layer % 2)];
  }

 private:
  /// An exchange in progress: this learner's slice of the sum, and what is added to it.
  struct Pending {
    std::unique_ptr<StartedExchange> exchange;
    std::vector<Tensor> parts;  // in the order of their shards
    Tensor sum;
  };

  const RoleTensors& layer(std::int64_t layer) override;
  void done(std::int64_t layer) override;
  void add_pass(const std::function<void()>& backward);
  void start(FlatRange range, std::int64_t first);
  void finish();
  FlatRange part_of(int learner, std::int64_t first) const;
  Tensor collect_part(std::int64_t first);

  Operators& operators_;
  Collective& learners_;
  LayerShards* weights_;
  LayerRanges layers_;
  GradientSlices slices_;
  std::int64_t elements_;             // of the flat order
  std::int64_t longest_;              // elements of a slice that are exchanged at a time
  Buffer sum_;                        // this learner's slices
  std::vector<LayerBuffer> buffers_;  // for even and odd layers: one is exchanged, one is added to
  LayerBuffer outer_;                 // for kNoLayer, from the beginning of a pass to its end
  Buffer received_;                   // slices of all learners' gradients; none of one learner
  std::optional<Pending> pending_;

  // The current pass.
  std::vector<bool> contributes_;       // learners that have a micro-batch
  std::int64_t open_layer_ = kNoLayer;  // the layer that the pass adds to
  bool is_outer_open_ = false;          // the pass adds to kNoLayer
  std::int64_t next_ = 0;               // the layer that is exchanged next; below kNoLayer: none
};

/// Returns the fp32 elements that GradientRounds allocates on the learner that needs most.
std::int64_t gradient_rounds_elements(std::span<const Parameter> layout, int learners);

}  // namespace lie
