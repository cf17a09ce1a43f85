// What learner 0 of a run is made of, wherever its steps come from: the policy and its update, and
// the stages that keep log, coverage and checkpoints.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/rollout/prompt_stream.h"
#include "learner/checkpoint/checkpoint_saver.h"
#include "learner/checkpoint/trainer_state.h"
#include "learner/record/curve_recorder.h"
#include "learner/record/run_coverage.h"
#include "learner/record/trajectory_recorder.h"
#include "learner/schedule/early_stop.h"
#include "learner/step_recorders.h"
#include "learner/update/optimizer.h"
#include "learner/update/update.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"
#include "tools/run/config/train_config.h"
#include "tools/run/roles/transport.h"
#include "tools/run/start/start.h"

namespace lie {

/// What a learner holds of the policy, and its update. Throws Error as the model's files do.
struct Training {
  std::unique_ptr<Operators> operators;
  std::unique_ptr<Collective> learners;  // reach the operators' memory
  Weights weights;                       // what this learner holds of them
  AdamW optimizer;
  Transformer policy;
  std::optional<Transformer> reference;  // the initial policy, with a KL term
  std::unique_ptr<PolicyUpdater> updater;
  std::string start_sha256;  // of the weights that the run began with
  TrainerState state;

  Training(const TrainConfig& config, const RunStart& start, const LearnerTransport& transport);
};

/// The prompt stream of a run, from where its checkpoint left it.
PromptStream prompt_stream(std::vector<Prompt> prompts, const TrainConfig& config,
                           const TrainerState& state);

/// What C_global counts: the reward's states, and those of the further metrics.
RunCoverage run_coverage(const TrainConfig& config, const RunStart& start);

TrajectoryRecorder trajectory_recorder(const TrainConfig& config, const RunStart& start,
                                       const Training& training, Collective& learners);

/// The curves of the run, which go on behind what its log holds; steps are added to `coverage`.
CurveRecorder curve_recorder(const TrainConfig& config, const RunStart& start,
                             RunCoverage& coverage);

/// Has the checkpoints written, with the current state of the prompt stream and of the coverage.
/// The trajectories up to this step are on disk. What a checkpoint makes needless is removed once
/// it is in place: older checkpoints by the thread that writes, log segments, whose index others
/// write, too, at the next step's end.
class CheckpointWriter : public StepRecorder {
 public:
  /// Keeps references to all but `start`.
  CheckpointWriter(const TrainConfig& config, const RunStart& start, const Training& training,
                   const PromptStream& prompts, const RunCoverage& coverage, EarlyStop& stop)
      : config_(config),
        training_(training),
        prompts_(prompts),
        coverage_(coverage),
        stop_(stop),
        checkpoints_(std::filesystem::path(config.run.directory) / "checkpoints"),
        last_step_(start.step),
        saved_step_(start.step),
        saver_(checkpoints_, config.checkpoint, training.weights, *training.learners) {}

  void take(StepOutcome& step) override;
  /// A run that ends early is saved where it ends. Returns when the checkpoint is in place.
  void close() override;

 private:
  void save();
  void note(const std::optional<SavingSeconds>& saved);
  /// By the metrics up to this step, which the curves before this stage have written.
  std::optional<std::int64_t> best() const;

  const TrainConfig& config_;
  const Training& training_;
  const PromptStream& prompts_;
  const RunCoverage& coverage_;
  EarlyStop& stop_;
  std::filesystem::path checkpoints_;
  std::int64_t last_step_, saved_step_;
  CheckpointSaver saver_;  // its thread ends before the others do
};

/// The same on the other learners, which write their parts.
class CheckpointShare : public StepRecorder {
 public:
  /// Keeps references to all but `start`.
  CheckpointShare(const TrainConfig& config, const RunStart& start, const Training& training)
      : config_(config),
        training_(training),
        last_step_(start.step),
        saved_step_(start.step),
        saver_(std::filesystem::path(config.run.directory) / "checkpoints", config.checkpoint,
               training.weights, *training.learners) {}

  void take(StepOutcome& step) override;
  void close() override;

 private:
  void save();

  const TrainConfig& config_;
  const Training& training_;
  std::int64_t last_step_, saved_step_;
  CheckpointSaver saver_;
};

}  // namespace lie
