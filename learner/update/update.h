// One training step's update of the policy: for each mini-batch forward and backward over
// micro-batches, gradients summed over learners, clipping, AdamW.
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
#include "learner/update/advantage.h"
#include "learner/update/batch.h"
#include "learner/update/gradient_shard_sum.h"
#include "learner/update/optimizer.h"
#include "learner/update/optimizer_shards.h"
#include "learner/update/policy_loss.h"
#include "learner/update/worker_policies.h"
#include "model/transformer/transformer.h"

namespace lie {

struct UpdateOptions {
  BatchOptions batch;
  PolicyLossOptions loss;
  double temperature = 1;  // that the responses were sampled at
};

/// One update of the weights: what the mini-batch looked like, over all learners.
struct MiniBatchUpdate {
  std::int64_t epoch = 0;  // from 0
  PolicyLossStats stats;
  UpdateOutcome optimizer;
};

/// Results of the first pass over a response, for the trajectory log.
struct ResponseUpdate {
  std::vector<float> learner_log_probs;  // [T]; with recompute_old_log_probs before any update
  float log_ratio = 0;                   // mean_t log_prob - old log_prob
  bool clipped = false;                  // any token clipped
  std::int32_t mini_batch = -1;          // within the step
};

struct UpdateSeconds {
  double forward = 0, backward = 0, gradient_sync = 0, optimizer = 0;

  /// Of workers at the same time, each with passes of its own.
  void add_mean(std::span<const UpdateSeconds> workers);
};

/// Equal on every learner, except the seconds.
struct StepUpdate {
  std::vector<MiniBatchUpdate> mini_batches;           // epoch after epoch
  std::vector<std::vector<ResponseUpdate>> responses;  // [groups][G]
  std::int64_t masked = 0;                             // of them, without a loss
  UpdateSeconds seconds;
};

/// What is trained, and with which group. Everything must outlive the updater.
struct UpdateParts {
  Weights& weights;        // fp32 master weights, changed by every update: all, or held_range()
  Transformer& policy;     // of these weights
  Transformer* reference;  // initial policy, for the KL term; null without
  AdamW& optimizer;        // of own_shard()
  Collective& learners;
};

/// Owns the gradients' memory.
class PolicyUpdater {
 public:
  /// Throws Error where options contradict each other, the reference policy is missing, or there
  /// are more learners than lanes. share_weights() follows where there are several learners.
  PolicyUpdater(const UpdateOptions& options, UpdateParts parts);

  /// The weights of all learners reach the policy. Collective over the learners; blocks.
  void share_weights() {
    UpdateSeconds seconds;
    share_weights(seconds);
  }
  /// From now on, actors of other processes compute with the learners' policies: the weights are
  /// shared when every learner's device has them.
  void lend() { is_lent_ = true; }
  bool is_lent() const { return is_lent_; }
  /// Returns when all learners have called it. Collective over the learners.
  void wait_for_all();
  /// All weights as they were shared last, [1, N] fp32, except during run().
  Tensor weights() { return gathered_weights(parts_.weights, gradient_.scratch()); }

  /// `attend` is called between micro-batches: what this rank owes others while it updates.
  void poll_progress_with(std::function<void()> poll_progress) {
    poll_progress_ = std::move(poll_progress);
  }

  /// Trains on a step's groups, in canonical order and the same on every learner, with an advantage
  /// for each response. Collective over the learners. The loss of a mini-batch has global
  /// denominators, and is summed by lanes: neither micro-batch size nor the number of learners
  /// changes a bit (invariant E4). Blocks.
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
  UpdateOutcome update_weights(std::int64_t step, UpdateSeconds& seconds);
  MiniBatchUpdate update_once(const Pass& pass, const MiniBatch& batch, StepUpdate& update);

  UpdateOptions options_;
  UpdateParts parts_;
  GradientShardSum gradient_;  // [1, N] fp32, flat as the weights and in the same memory
  WorkerPolicies policies_;
  std::optional<WorkerPolicies> references_;
  std::function<void()> poll_progress_ = [] {};
  bool is_lent_ = false;
};

}  // namespace lie
