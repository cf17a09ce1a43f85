// The weights that a run trains, and everything that turns the gradients of micro-batches into new
// weights. The policy update (learner/update) and fine-tuning (learner/sft) bring only the loss.
//
// Its callers see one micro-batch at a time, and whole updates. This class alone decides which part
// of weights, gradient and moments a learner holds, in which order micro-batches run, and when
// parts travel between learners. Today the master weights, the summed gradient and the moments are
// divided among the learners (ZeRO stage 1, arXiv:1910.02054).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/trainer/gradient_shard_sum.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/packing.h"
#include "learner/trainer/trainer_options.h"
#include "learner/trainer/worker_policies.h"
#include "model/layers/gradient_sink.h"
#include "model/operators/operators.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"

namespace lie {

/// One micro-batch, as the worker that computes it sees it.
struct MicroBatchWork {
  const MicroBatch& batch;
  Transformer& policy;               // the worker's
  std::int64_t worker = 0;           // below ShardedTrainer::workers().size()
  std::int64_t shard = 0;            // index of its gradient shard over all learners
  GradientSink* gradient = nullptr;  // for policy.backward(); null in for_each_micro_batch()
};

/// Seconds of an update of the weights, on this learner.
struct TrainerSeconds {
  double gradient_sync = 0;  // waiting for other learners included
  double optimizer = 0;
};

class ShardedTrainer {
 public:
  /// Takes the start weights: all of them, or the range that this learner holds
  /// (held_range() in learner/checkpoint/checkpoint_parts.h). Gathers them into the policy. If they
  /// are those of an adapter, the policy also reads its base; nothing of it is trained.
  /// Allocates moments and partial gradients. The weights' operators and `learners` must outlive
  /// the trainer. Throws Error if options contradict each other, or if there are more learners than
  /// gradient shards. Collective; blocks.
  ShardedTrainer(const TrainerOptions& options, const OptimizerOptions& optimizer, Weights weights,
                 Collective& learners);
  ShardedTrainer(const ShardedTrainer&) = delete;
  ShardedTrainer& operator=(const ShardedTrainer&) = delete;

  /// Divides the sequences of a mini-batch, which are the same on every learner. Returns the
  /// micro-batches of this learner.
  PackedGradientShards pack(std::span<const SequenceTokens> sequences) const;

  using Work = std::function<void(const MicroBatchWork&)>;
  /// Calls work(), without a gradient, for each micro-batch of `shards`. Workers run at the same
  /// time; the micro-batches of a gradient shard run in order on one worker. Worker 0 runs on the
  /// caller's thread. Throws what work() throws.
  void for_each_micro_batch(const PackedGradientShards& shards, const Work& work);
  /// As for_each_micro_batch(), for a new mini-batch whose gradient work() adds up.
  void accumulate_gradient(const PackedGradientShards& shards, const Work& work);
  /// Applies AdamW with the gradient of all learners, clipped by its norm, and gathers the new
  /// weights. `step` is the training step, from 1. Adds to `seconds`. Collective; blocks.
  UpdateOutcome update(std::int64_t step, TrainerSeconds& seconds);

  /// Gathers the weights of all learners into the policy. Call it after each change of weights()
  /// other than update(). Collective; blocks.
  void gather_weights();
  /// Returns all weights as of the last gather_weights() or update(), [1, N] fp32. Invalid from
  /// accumulate_gradient() to the end of the next update().
  Tensor gathered_weights();
  /// Declares that actors compute with the policy of this learner from now on. Each later gathering
  /// then also waits until all learners' devices hold the new weights.
  void share_with_actors() { is_shared_with_actors_ = true; }

  Collective& learners() const { return learners_; }
  Transformer& policy() { return policy_; }
  const std::vector<Operators*>& workers() const { return gradient_.workers(); }
  /// The fp32 master weights that this learner holds, which checkpoints store and restore.
  Weights& weights() { return weights_; }
  const Weights& weights() const { return weights_; }
  /// The optimizer of this learner's optimizer shard.
  AdamW& optimizer() { return optimizer_; }
  const AdamW& optimizer() const { return optimizer_; }

 private:
  void run_micro_batches(const PackedGradientShards& shards, const GradientShardWork& shard,
                         const Work& work);
  void gather_weights(TrainerSeconds& seconds);

  TrainerOptions options_;
  Collective& learners_;
  Weights weights_;
  AdamW optimizer_;
  Transformer policy_;         // reads weights_, or what gather_weights() gave it
  GradientShardSum gradient_;  // [1, N] fp32, in the flat order and memory of the weights
  WorkerPolicies policies_;
  bool is_shared_with_actors_ = false;
};

}  // namespace lie
