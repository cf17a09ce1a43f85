// What a training run logs at its start and end.
#pragma once

#include <string>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "learner/schedule/early_stop.h"
#include "tools/run/config/train_config.h"
#include "tools/run/start/prepare_run.h"

namespace lie {

/// Returns the text logged at the start of a run: its directory and first step, its model and data,
/// the memory of its roles, and the ranks of `layout`. If the run has all its steps, returns the
/// text of end_run() instead. Lines have at most 80 columns, except paths and commands.
std::string start_text(const TrainConfig& config, const PreparedRun& run, const RoleLayout& layout);

/// Logs on rank 0 how the run ended, where its results are and which command to type next. If the
/// run was stopped, also sets the exit status of the job to "stopped".
void end_run(Job& job, const TrainConfig& config, const RunStart& start, const EarlyStop& stop);

}  // namespace lie
