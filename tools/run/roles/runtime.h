// Runs the roles of a run: on threads of one process, or on ranks over MPI.
#pragma once

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "learner/schedule/early_stop.h"
#include "tools/run/config/train_config.h"
#include "tools/run/start/check_inputs.h"
#include "tools/run/start/run_start.h"

namespace lie {

/// Runs all roles on threads of this process, connected by in-process queues. Returns at the end of
/// the run, or when `stop` ends it early. Throws the first failure of a role.
void run_in_one_process(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const RoleLayout& layout, EarlyStop& stop);

/// Runs this rank's role in a job of several ranks. `prompts` and `stop` matter on rank 0 only.
/// Collective over the world.
void run_over_mpi(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                  const RoleLayout& layout, EarlyStop& stop);

}  // namespace lie
