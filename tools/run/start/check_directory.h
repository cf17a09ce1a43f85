// Checks whether a training run may begin or resume in run.directory, as run.resume says.
#pragma once

#include "tools/run/config/train_config.h"
#include "tools/run/start/input_record.h"

namespace lie {

/// Throws Error if run.resume forbids continuing the run in the directory, or beginning a new one,
/// and as holds_this_run() does.
void check_directory(const TrainConfig& config);

/// Throws Error like check_directory(), unless set_failed_start_aside() would rename the directory.
void check_directory_before_start(const TrainConfig& config);

/// Throws Error if the directory holds a run that began with other inputs than `now` (invariant
/// E12), unless set_failed_start_aside() would rename it. With run.resume changed, the evaluation
/// rows may differ.
void check_inputs_of_run(const TrainConfig& config, const InputRecord& now);

/// Renames a directory in which another config, or a start with other inputs, failed before its
/// first step, so that the corrected command can be started in it. Does nothing unless run.resume
/// is auto. Nothing is deleted. Throws Error if that start is still running.
void set_failed_start_aside(const TrainConfig& config, const InputRecord& now);

}  // namespace lie
