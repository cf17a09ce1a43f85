// Saves the checkpoints of a run in the background of the steps that follow: training waits only
// for a copy in memory. Every learner writes its part; a checkpoint is in place when all are on
// disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/comm/collective/collective.h"
#include "common/rollout/prompt_stream.h"
#include "learner/checkpoint/best_checkpoint.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/checkpoint/checkpoint_options.h"
#include "learner/schedule/early_stop.h"
#include "learner/step.h"

namespace lie {

struct SavingSeconds {
  /// From the end of the step until the checkpoint was in place and older ones were removed,
  /// without the time until this learner noticed that the other parts were written.
  double all = 0;
  double waited = 0;  // time that training waited, on this learner
};

/// Saves the checkpoints of a run, one at a time, each in its own thread, which calls neither MPI
/// nor HDF5. Until a checkpoint is in place, everything that a resume from the preceding one needs
/// must stay. All methods are collective: every learner calls them after the same steps.
class CheckpointSaver {
 public:
  /// With `options.background`, and unless only the last step is saved, holds a copy of this
  /// learner's part in host memory from now on: over all learners 12 bytes per parameter. Otherwise
  /// save() returns when the checkpoint is in place, or throws.
  CheckpointSaver(std::filesystem::path checkpoints, const CheckpointOptions& options,
                  const Weights& weights, Collective& learners);
  /// Waits for the thread, and drops its error. Abandons a checkpoint that lacks the parts of other
  /// learners.
  ~CheckpointSaver();

  /// Begins to save the present state of `contents`. On learner 0, calls `afterwards` in the thread
  /// that writes, once the checkpoint is in place. First waits for the preceding save, as wait()
  /// does.
  void save(const CheckpointContents& contents, std::function<void()> afterwards);

  /// To be called after every step. Returns the seconds of a save once after it has ended; on
  /// learner 0 only. Throws the error of this learner's part.
  std::optional<SavingSeconds> poll();
  /// Waits for the save in progress and returns its seconds; empty if there is none.
  std::optional<SavingSeconds> wait();

 private:
  class Copy;
  /// Parts on disk: their lines of SHA256SUMS, and the seconds of the slowest.
  struct Written {
    std::string checksums;
    double seconds = 0;
  };

  bool is_first() const { return learners_.rank() == 0; }
  Written write_part(const CheckpointContents& contents, const Stopwatch& watch) const;
  Written complete(Written parts) const;
  Written gather(Written own);
  void share_written(bool waits);

  std::filesystem::path checkpoints_;
  Collective& learners_;
  bool in_background_;
  std::vector<CheckpointPart> parts_;  // by learner
  std::unique_ptr<Copy> copy_;         // null: weights and moments are written without a copy
  double waited_ = 0;                  // seconds, for the save in progress
  bool awaits_parts_ = false;          // the learners do not know yet that all parts are written
  std::int64_t step_ = 0;              // of the save in progress
  std::function<void()> afterwards_;   // on learner 0, after the save in progress
  std::future<Written> writing_;       // ends before the members above
};

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
  /// Keeps references to weights, optimizer and learners. `coordinator`: on learner 0.
  CheckpointRecorder(CheckpointedRun run, const Weights& weights, const AdamW& optimizer,
                     Collective& learners, std::optional<CoordinatorState> coordinator = {});

  void record(StepOutcome& step) override;
  /// Returns when the checkpoint of the last recorded step is in place.
  void close() override;

 private:
  void save();
  void note(const std::optional<SavingSeconds>& saved);
  std::optional<std::int64_t> best_step() const;

  const CheckpointedRun run_;
  const std::filesystem::path checkpoints_;
  const Weights& weights_;
  const AdamW& optimizer_;
  std::optional<CoordinatorState> coordinator_;
  std::int64_t recorded_step_, saved_step_;
  CheckpointSaver saver_;  // its thread uses the members above
};

}  // namespace lie
