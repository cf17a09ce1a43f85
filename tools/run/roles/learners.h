// The learners of a run: what each of them holds, and the parts of learner 0, wherever its steps
// come from: actors generate them, or lie_replay reads them from logs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/collective/collective.h"
#include "common/rollout/prompt_stream.h"
#include "common/trajectory/step_log.h"
#include "learner/checkpoint/checkpoint_recorder.h"
#include "learner/checkpoint/trainer_state.h"
#include "learner/learner.h"
#include "learner/record/curve_recorder.h"
#include "learner/record/log_comparison.h"
#include "learner/record/run_coverage.h"
#include "learner/record/trajectory_recorder.h"
#include "learner/schedule/early_stop.h"
#include "learner/step.h"
#include "learner/trainer/sharded_trainer.h"
#include "learner/update/update.h"
#include "model/transformer/transformer.h"
#include "tools/run/config/train_config.h"
#include "tools/run/roles/sample_events.h"
#include "tools/run/roles/transport.h"
#include "tools/run/start/run_start.h"

namespace lie {

/// Built in the order of its members. The constructor restores the checkpoint that a run resumes
/// from, and throws Error if a file of the model or of the checkpoint is invalid.
struct LearnerState {
  std::unique_ptr<Operators> operators;
  std::unique_ptr<Collective> learners;  // reaches the operators' memory
  ShardedTrainer trainer;                // policy, master weights and optimizer
  std::optional<Transformer> reference;  // the initial policy, if the loss has a KL term
  std::optional<Transformer> teacher;    // of distillation
  std::unique_ptr<PolicyUpdater> updater;
  TrainerState saved;  // of the checkpoint; the default at the start of a run

  LearnerState(const TrainConfig& config, const RunStart& start, const LearnerTransport& transport);
};

/// Returns this learner's end of weight sync. Collective over learners and actors.
std::unique_ptr<WeightSender> make_weight_sender(const LearnerTransport& transport,
                                                 const std::shared_ptr<LearnerState>& state);

/// The parts of learner 0, built in the order of the members.
struct Learner0 {
  const TrainConfig& config;
  const RunStart& start;
  std::shared_ptr<LearnerState> state;    // trainer and updater
  std::unique_ptr<WeightSender> weights;  // to the actors
  PromptStream prompts;                   // continues where the checkpoint left it
  StepLog log;                            // holds the steps that earlier starts have logged
  TrajectoryRecorder trajectories;        // writes the trajectory log
  LogComparison comparison;               // compares steps that are learned again with the log
  RunCoverage coverage;                   // counts the distinct n-grams of the run
  CurveRecorder curves;                   // writes metrics and TensorBoard events, shows progress
  SampleEvents samples;                   // writes texts and lengths for TensorBoard
  StepRecorders recorders;                // the recorders above
  CheckpointRecorder checkpoints;         // saves policy, optimizer, prompts and coverage

  /// Keeps references to config, start, transport and stop.
  Learner0(const TrainConfig& run_config, const RunStart& run_start,
           TrainingPrompts training_prompts, const LearnerTransport& transport, EarlyStop& stop);
  Learner0(const Learner0&) = delete;
  Learner0& operator=(const Learner0&) = delete;

  /// Returns the parts for run_learner() on the steps of `groups`, without actors.
  LearnerParts parts(Source<StepGroups>& groups);
};

/// Returns the trajectory log of one learner.
TrajectoryRecorder trajectory_recorder(const TrainConfig& config, const RunStart& start,
                                       Collective& learners);

/// Returns what the checkpoints of a run hold and how long they are kept.
CheckpointedRun checkpointed_run(const TrainConfig& config, const RunStart& start);

}  // namespace lie
