// The policy update of one training step. For each mini-batch: forward and backward passes over its
// micro-batches, gradient sum over learners, gradient clipping, AdamW.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/comm/collective/collective.h"
#include "common/config/options.h"
#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"
#include "learner/trainer/gradient_shard_sum.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/optimizer_shards.h"
#include "learner/trainer/packing.h"
#include "learner/trainer/worker_policies.h"
#include "learner/update/advantage.h"
#include "learner/update/batch.h"
#include "learner/update/policy_loss.h"
#include "model/transformer/transformer.h"

namespace lie {

struct UpdateOptions {
  BatchOptions batch;
  PolicyLossOptions loss;
  double temperature = 1;  // sampling temperature of the responses
};

/// The statistics of one mini-batch over all learners, and the optimizer's outcome.
struct MiniBatchUpdate {
  std::int64_t epoch = 0;  // from 0
  PolicyLossStats stats;
  UpdateOutcome optimizer;
};

/// Seconds per phase of the update, on this learner.
struct UpdateSeconds {
  double forward = 0, backward = 0, gradient_sync = 0, optimizer = 0;

  /// Adds the mean forward and backward seconds of workers that ran at the same time.
  void add_mean(std::span<const UpdateSeconds> workers);
};

/// The result of a step's update. Equal on every learner, except the seconds.
struct StepUpdate {
  std::vector<MiniBatchUpdate> mini_batches;          // in order of execution
  std::vector<std::vector<LearnerResult>> responses;  // [groups][G], of the first epoch
  std::int64_t masked = 0;                            // responses without a loss
  UpdateSeconds seconds;
};

/// The objects that an updater works on. All of them must outlive it.
struct UpdateParts {
  Weights& weights;  // fp32 master weights, changed by every update: all of them, or held_range()
  Transformer& policy;     // computes with these weights
  Transformer* reference;  // initial policy, for the KL term; null: no KL term
  AdamW& optimizer;        // moments of own_optimizer_shard()
  Collective& learners;
};

/// Trains the policy on the groups of a step. Owns the memory of the gradients.
class PolicyUpdater {
 public:
  /// Throws Error if options contradict each other, if a KL term lacks its reference policy, or if
  /// there are more learners than gradient shards. With several learners the caller must call
  /// share_weights() next.
  PolicyUpdater(const UpdateOptions& options, UpdateParts parts);

  /// Gathers the weights of all learners into the policy. Collective over the learners; blocks.
  void share_weights() {
    UpdateSeconds seconds;
    share_weights(seconds);
  }
  /// Declares that actors compute with the learners' weights from now on. Every later
  /// share_weights() then also waits until all learners' devices hold the new weights.
  void share_with_actors() { is_shared_with_actors_ = true; }
  /// Returns all weights as of the last share_weights(), [1, N] fp32. Invalid during run().
  Tensor weights() { return gathered_weights(parts_.weights, gradient_.scratch()); }

  /// Sets a function that run() calls between micro-batches, so that this rank can serve messages
  /// of other ranks during an update.
  void poll_progress_with(std::function<void()> poll_progress) {
    poll_progress_ = std::move(poll_progress);
  }

  /// Trains on a step's groups, which are in canonical order and the same on every learner, with
  /// one advantage per response. The loss of a mini-batch has global denominators, and its gradient
  /// is summed over gradient shards. The result is therefore bit-identical for any micro-batch size
  /// and any number of learners (invariant E4). Collective over the learners; blocks.
  StepUpdate run(std::int64_t step, std::span<const ScoredGroup> groups,
                 std::span<const GroupAdvantages> advantages);

 private:
  struct MiniBatch;
  struct Pass;
  struct GradientShard;
  MiniBatch prepare(std::span<const ScoredGroup> groups, std::vector<ResponseIndex> indices) const;
  template <typename Work>
  void each_micro_batch(const MiniBatch& batch, const GradientShardWork& shard,
                        const Work& work) const;
  void recompute_old(MiniBatch& batch, UpdateSeconds& seconds);
  SequenceInput sequence_input(const Pass& pass, const MiniBatch& batch,
                               std::size_t sequence) const;
  void accumulate(const Pass& pass, const MiniBatch& batch, const MicroBatch& micro,
                  const GradientShard& shard, StepUpdate& update);
  PolicyLossStats run_shards(const Pass& pass, const MiniBatch& batch, StepUpdate& update);
  void share_weights(UpdateSeconds& seconds);
  void wait_for_all_learners();
  UpdateOutcome update_weights(std::int64_t step, UpdateSeconds& seconds);
  MiniBatchUpdate update_once(const Pass& pass, const MiniBatch& batch, StepUpdate& update);

  UpdateOptions options_;
  UpdateParts parts_;
  GradientShardSum gradient_;  // [1, N] fp32, in the flat order and memory of the weights
  WorkerPolicies policies_;
  std::optional<WorkerPolicies> references_;
  std::function<void()> poll_progress_ = [] {};
  bool is_shared_with_actors_ = false;
};

}  // namespace lie
