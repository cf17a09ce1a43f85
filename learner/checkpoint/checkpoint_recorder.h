// Saves a checkpoint of a run after each step that is due, and removes what it replaces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/comm/collective/collective.h"
#include "common/rollout/prompt_stream.h"
#include "learner/checkpoint/best_checkpoint.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/checkpoint/checkpoint_options.h"
#include "learner/checkpoint/checkpoint_saver.h"
#include "learner/schedule/early_stop.h"
#include "learner/step.h"
#include "learner/trainer/sharded_trainer.h"

namespace lie {

/// What a run saves, and how long it keeps it.
struct CheckpointedRun {
  std::filesystem::path directory;  // of the run
  std::filesystem::path model;      // that the run began with
  std::uint64_t seed = 0;
  std::int64_t first_step = 0;  // of the checkpoint from which the run resumes; 0: none
  std::int64_t last_step = 0;
  CheckpointOptions checkpoint;
  BestCheckpointOptions best;
  std::int64_t keep_log_steps = 0;  // trajectories.keep_last_steps
};

/// The state that only learner 0 saves. Everything outlives the recorder.
struct CoordinatorState {
  const PromptStream& prompts;
  const CheckpointExtra& coverage;
  EarlyStop& stop;  // receives the duration of each save
};

/// Saves a checkpoint after each step that is due, and after the last recorded step. Once a
/// checkpoint is in place, removes what it replaces: old checkpoints in the thread that writes, old
/// segments of the trajectory log after the next step, since other threads also write their index.
/// Requires that the trajectories of a step are on disk before it is recorded here.
class CheckpointRecorder : public StepRecorder {
 public:
  /// Keeps a reference to the trainer. `coordinator`: on learner 0.
  CheckpointRecorder(CheckpointedRun run, const ShardedTrainer& trainer,
                     std::optional<CoordinatorState> coordinator = {});

  void record(StepOutcome& step) override;
  /// Returns when the checkpoint of the last recorded step is in place.
  void close() override;

 private:
  void save();
  void note(const std::optional<SavingSeconds>& saved);
  std::optional<std::int64_t> best_step() const;

  const CheckpointedRun run_;
  const std::filesystem::path checkpoints_;
  const ShardedTrainer& trainer_;
  std::optional<CoordinatorState> coordinator_;
  std::int64_t recorded_step_, saved_step_;
  double entropy_coefficient_ = 0;  // after recorded_step_
  CheckpointSaver saver_;           // its thread uses the members above
};

}  // namespace lie
