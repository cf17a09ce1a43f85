// Checkpoints written beside the steps that follow: what training waits for is a copy in memory.
// Every learner writes its part; the checkpoint is in place when all parts are on the disk.
#pragma once

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

namespace lie {

/// Of one checkpoint.
struct SavingSeconds {
  double all = 0;     // from the step's end until it was in place and older ones removed; without
                      // waiting for the other learners' word
  double waited = 0;  // by training, on this learner
};

/// Saves the checkpoints of a run, one at a time, each by a thread of its own that calls neither
/// MPI nor HDF5. Until one is in place, all that a resume from the one before needs must stay.
/// All methods are collective: every learner calls them after the same steps.
class CheckpointSaver {
 public:
  /// With `options.background`, and if there is more than the last to save, it holds a copy of this
  /// learner's part in the host's memory from now on: of all learners 12 bytes a parameter.
  /// Without, save() returns when the checkpoint is in place, or failed.
  CheckpointSaver(std::filesystem::path checkpoints, const CheckpointOptions& options,
                  const Weights& weights, Collective& learners);
  /// Waits, too; an error is lost then. What other learners have not written is given up.
  ~CheckpointSaver();

  /// Begins to save what `contents` is now; on learner 0 `afterwards` follows once it is in place,
  /// in the thread that writes. Waits for the save before, as wait() does.
  void save(const CheckpointContents& contents, std::function<void()> afterwards);

  /// After every step: on learner 0 what is known once a save has ended, and only once. Throws the
  /// error of this learner's part.
  std::optional<SavingSeconds> poll();
  /// The same when it has ended; empty if there is none.
  std::optional<SavingSeconds> wait();

 private:
  class Copy;
  /// Parts on the disk: their lines of SHA256SUMS, and the seconds of the slowest.
  struct Written {
    std::string checksums;
    double seconds = 0;
  };

  bool is_first() const { return learners_.rank() == 0; }
  Written write_part(const CheckpointContents& contents, const Stopwatch& watch) const;
  Written complete(std::int64_t step, Written parts, const std::function<void()>& afterwards) const;
  Written of_all(Written own);
  void save_beside(const CheckpointContents& copy, const Stopwatch& watch,
                   std::function<void()> afterwards);
  void meet(bool waits);

  std::filesystem::path checkpoints_;
  Collective& learners_;
  bool in_background_;
  std::vector<CheckpointPart> parts_;  // by learner
  std::unique_ptr<Copy> copy_;         // null: what is written are weights and moments themselves
  double waited_ = 0;                  // seconds, for the save in progress
  bool meets_ = false;                 // learner 0 does not know yet of the others' parts
  std::promise<Written> parts_known_;  // to learner 0's thread
  std::future<Written> writing_;       // ends before the copy does
};

}  // namespace lie
