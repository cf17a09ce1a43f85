// Checkpoints written beside the steps that follow: what training waits for is a copy in memory.
#pragma once

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>

#include "common/comm/collective.h"
#include "learner/checkpoint.h"

namespace lie {

/// Of one checkpoint.
struct SavingSeconds {
  double all = 0;     // from the step's end until it was in place and older ones removed
  double waited = 0;  // of these, by training
};

/// Saves the checkpoints of a run, one at a time, each by a thread of its own that calls neither
/// MPI nor HDF5. Until one is in place, all that a resume from the one before needs must stay.
class CheckpointSaver {
 public:
  /// On learner 0. With `options.background`, and if there is more than the last to save, it holds
  /// a copy of weights and moments in the host's memory from now on: 12 bytes a parameter. Without,
  /// save() returns when the checkpoint is in place, or failed; where the moments are sharded it
  /// holds the copy meanwhile.
  CheckpointSaver(std::filesystem::path checkpoints, const CheckpointOptions& options,
                  const Weights& weights, Collective& learners);
  /// Waits, too; an error is lost then.
  ~CheckpointSaver();

  /// Begins save_checkpoint() of what `contents` is now; `afterwards` follows once it is in place,
  /// in the thread that writes. Waits for the save before, as wait() does. Collective: the other
  /// learners call send_moments().
  void save(const CheckpointContents& contents, std::function<void()> afterwards);

  /// After every step: what is known once a save has ended, and only once. Throws its error.
  std::optional<SavingSeconds> poll();
  /// The same when it has ended; empty if there is none.
  std::optional<SavingSeconds> wait();

 private:
  class Copy;

  std::filesystem::path checkpoints_;
  Collective& learners_;
  bool in_background_;
  std::unique_ptr<Copy> copy_;   // null: what is written are weights and moments themselves
  double waited_ = 0;            // seconds, for the save in progress
  std::future<double> writing_;  // ends before the copy does
};

/// A learner's part of learner 0's save(): its shard of the moments. Blocks.
void send_moments(Collective& learners, const Weights& weights, const AdamW& optimizer);

}  // namespace lie
