// The weights that a run trains, and everything that turns the gradients of micro-batches into new
// weights. The policy update (learner/update) and fine-tuning (learner/sft) bring only the loss.
//
// Its callers see one micro-batch at a time, and whole updates. This class alone decides which part
// of weights, gradient and moments a learner holds, in which order micro-batches run, and when
// parts travel between learners. Master weights, moments and the summed gradient are divided among
// the learners (ZeRO stage 1, arXiv:1910.02054). In stage 2 no learner holds a whole gradient of
// its micro-batches either (learner/trainer/gradient_rounds.h), and in stage 3 none holds all
// weights that passes read (learner/trainer/layer_shards.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/trainer/gradient_rounds.h"
#include "learner/trainer/gradient_shard_sum.h"
#include "learner/trainer/layer_shards.h"
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
  /// micro-batches of this learner. In stage 1 a micro-batch may have fewer tokens than the options
  /// allow, if that is faster.
  PackedGradientShards pack(std::span<const SequenceTokens> sequences) const;

  using Work = std::function<void(const MicroBatchWork&)>;
  /// Calls work(), without a gradient, for each micro-batch of `shards`. Workers run at the same
  /// time; the micro-batches of a gradient shard run in order on one worker. Worker 0 runs on the
  /// caller's thread. From stage 2 on there is one worker. work() calls policy.forward() once. In
  /// stage 3 it is collective and blocks. Throws what work() throws.
  void for_each_micro_batch(const PackedGradientShards& shards, const Work& work);
  /// As for_each_micro_batch(), for a new mini-batch whose gradient work() adds up, by one backward
  /// pass for each micro-batch. From stage 2 on it is collective and blocks.
  void accumulate_gradient(const PackedGradientShards& shards, const Work& work);
  /// Applies AdamW with the gradient of all learners, clipped by its norm, and gathers the new
  /// weights. `step` is the training step, from 1. Adds to `seconds`. Collective; blocks.
  UpdateOutcome update(std::int64_t step, TrainerSeconds& seconds);

  /// Gathers the weights of all learners into the policy. Call it after each change of weights()
  /// other than update(). Collective; blocks.
  void gather_weights();
  /// Returns the elements `part` of the flat order of all weights, [1, part.count] fp32, as they
  /// are since the last gather_weights() or update(). They are valid until the next call of a
  /// method. The result may be empty on other learners than 0, unless they are `on_all_learners`.
  /// Collective; blocks.
  Tensor weights_at(FlatRange part, bool on_all_learners = true);
  /// Declares that actors compute with the policy of this learner from now on. Each later gathering
  /// then also waits until all learners' devices hold the new weights.
  void share_with_actors() { is_shared_with_actors_ = true; }

  Collective& learners() const { return learners_; }
  Transformer& policy() { return policy_; }
  const std::vector<Operators*>& workers() const { return workers_; }
  /// The fp32 master weights that this learner holds, which checkpoints store and restore.
  Weights& weights() { return weights_; }
  const Weights& weights() const { return weights_; }
  /// The optimizer of this learner's optimizer shard.
  AdamW& optimizer() { return optimizer_; }
  const AdamW& optimizer() const { return optimizer_; }

 private:
  void run_micro_batches(const PackedGradientShards& shards, const GradientShardWork& shard,
                         const Work& work);
  UpdateOutcome apply_tree(std::int64_t step, TrainerSeconds& seconds);
  UpdateOutcome apply_rounds(std::int64_t step, TrainerSeconds& seconds);
  bool gathers_by_layer() const;
  Tensor gathered_weights();
  void gather_weights(TrainerSeconds& seconds);
  void gather_whole(TrainerSeconds& seconds);
  void gather_by_layer(TrainerSeconds& seconds);

  TrainerOptions options_;
  Collective& learners_;
  Weights weights_;
  AdamW optimizer_;
  std::shared_ptr<LayerShards> layer_shards_;  // stage 3 with several learners; otherwise null
  Transformer policy_;                         // reads weights_, or what gather_weights() gave it
  // The gradient, in the flat order and memory of the weights: one of these is set.
  std::optional<GradientShardSum> tree_;  // stage 1
  std::optional<GradientRounds> rounds_;  // stages 2 and 3
  std::vector<Operators*> workers_;
  WorkerPolicies policies_;
  Buffer gathered_;  // of gathered_weights() or weights_at() from stage 2 on
  bool is_shared_with_actors_ = false;
};

}  // namespace lie
