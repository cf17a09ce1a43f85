// Saves checkpoints in the background of the steps that follow: training waits only for a copy in
// memory. Every learner writes its part; a checkpoint is in place when all are on disk.
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
#include "learner/checkpoint/checkpoint.h"
#include "learner/checkpoint/checkpoint_options.h"

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

}  // namespace lie
