// The policy update of one training step. For each mini-batch: forward and backward passes over its
// micro-batches, gradient sum over learners, gradient clipping, AdamW.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"
#include "learner/advantage/advantage.h"
#include "learner/loss/policy_loss.h"
#include "learner/loss/token_rule/token_rules.h"
#include "learner/trainer/optimizer.h"
#include "learner/trainer/sharded_trainer.h"
#include "learner/trainer/worker_policies.h"
#include "learner/update/batch.h"
#include "model/transformer/transformer.h"

namespace lie {

struct UpdateOptions {
  BatchOptions batch;
  PolicyLossOptions loss;
  double temperature = 1;  // sampling temperature of the responses
  std::uint64_t seed = 0;  // of the run, for the draws of token rules
};

/// The statistics of one mini-batch over all learners, and the optimizer's outcome.
struct MiniBatchUpdate {
  std::int64_t epoch = 0;  // from 0
  PolicyLossStats stats;
  UpdateOutcome optimizer;
};

/// Seconds per phase of the update, on this learner.
struct UpdateSeconds : TrainerSeconds {
  double forward = 0, backward = 0;

  /// Adds the mean forward and backward seconds of workers that ran at the same time.
  void add_mean(std::span<const UpdateSeconds> workers);
};

/// The result of a step's update. Equal on every learner, except the seconds.
struct StepUpdate {
  std::vector<MiniBatchUpdate> mini_batches;          // in order of execution
  std::vector<std::vector<LearnerResult>> responses;  // [groups][G], of the first epoch
  std::int64_t masked = 0;                            // responses without a loss
  std::vector<RuleCount> rule_counts;                 // of each token rule, over the mini-batches
  std::optional<double> entropy_coefficient = {};     // of the step, with an entropy target
  double next_entropy_coefficient = 0;                // which a checkpoint stores
  UpdateSeconds seconds;
};

/// Trains the policy on the groups of a step.
class PolicyUpdater {
 public:
  /// `reference` is the initial policy, for the KL term; null: no KL term. `teacher` is that of
  /// distillation; null: none. They and the trainer must outlive the updater. Throws Error if
  /// options contradict each other, or if a KL term or distillation lacks its policy.
  PolicyUpdater(const UpdateOptions& options, ShardedTrainer& trainer,
                Transformer* reference = nullptr, Transformer* teacher = nullptr);

  /// Sets a function that run() calls between micro-batches, so that this rank can serve messages
  /// of other ranks during an update.
  void poll_progress_with(std::function<void()> poll_progress) {
    poll_progress_ = std::move(poll_progress);
  }

  /// Restores what StepUpdate::next_entropy_coefficient was after the step of a checkpoint.
  void restore_entropy_coefficient(double coefficient) { next_entropy_coefficient_ = coefficient; }

  /// Trains on a step's groups, which are in canonical order and the same on every learner, with
  /// one advantage per response. The loss of a mini-batch has global denominators, and its gradient
  /// is summed over gradient shards. The result is therefore bit-identical for any micro-batch size
  /// and any number of learners (invariant E4). Collective over the learners; blocks.
  StepUpdate run(std::int64_t step, std::span<const ScoredGroup> groups,
                 std::span<const GroupAdvantages> advantages);

 private:
  struct MiniBatch;
  struct Pass;
  struct WorkerSums;
  MiniBatch prepare(std::span<const ScoredGroup> groups,
                    std::span<const GroupAdvantages> advantages,
                    std::vector<ResponseIndex> indices) const;
  void poll_progress(const MicroBatchWork& done) const;
  void pass_before_update(MiniBatch& batch, UpdateSeconds& seconds);
  void prepare_tokens(Pass pass, std::span<MiniBatch> batches, StepUpdate& update);
  static void check_teacher(const Pass& pass, std::span<const MiniBatch> batches);
  void aim_at_entropy(const Pass& pass, std::span<const MiniBatch> batches, StepUpdate& update);
  void apply_token_rules(const Pass& pass, MiniBatch& batch, StepUpdate& update);
  SequenceInput sequence_input(const Pass& pass, const MiniBatch& batch,
                               std::size_t sequence) const;
  void accumulate(const Pass& pass, const MiniBatch& batch, const MicroBatchWork& work,
                  const WorkerSums& sums, StepUpdate& update);
  PolicyLossStats run_micro_batches(const Pass& pass, const MiniBatch& batch, StepUpdate& update);
  MiniBatchUpdate update_once(const Pass& pass, const MiniBatch& batch, StepUpdate& update);

  UpdateOptions options_;
  ShardedTrainer& trainer_;
  std::optional<WorkerPolicies> references_, teachers_;
  double next_entropy_coefficient_ = 0;  // of the next step, with an entropy target
  std::function<void()> poll_progress_ = [] {};
};

}  // namespace lie
