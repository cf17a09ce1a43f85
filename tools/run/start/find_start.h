// Finds where the next stage of a run begins: at step 0 with the configured model, or after the
// step of a checkpoint.
#pragma once

#include <cstdint>

#include "tools/run/config/train_config.h"
#include "tools/run/start/run_start.h"

namespace lie {

/// The steps that the directory of a run holds.
struct SavedSteps {
  RunStart checkpoint;           // begins after the last valid checkpoint, or as the run first did
  std::int64_t logged_step = 0;  // the last step in the log; the checkpoint's if none follows it
};

/// Finds the saved steps. Renames damaged checkpoints, and recovers the log that a killed process
/// left. Only the writer of the directory may call it. Throws Error as valid_checkpoint() does.
SavedSteps recover_saved_steps(const TrainConfig& config);

/// Returns the stage of the run that begins after the saved steps. It has no end_of_sequence_ids.
/// Only the writer of the directory may call it. Throws Error if the schedule that the run follows
/// needs older weights than any checkpoint leads to.
RunStart find_start(const TrainConfig& config, const SavedSteps& saved);

/// Returns the start that find_start() would, but renames and recovers nothing. Ignores the steps
/// that the log holds after the checkpoint.
RunStart expected_start(const TrainConfig& config);

/// Returns the start of a run without own checkpoint: the configured model, or for a replay the
/// checkpoint that it begins with.
RunStart first_start(const TrainConfig& config);

}  // namespace lie
