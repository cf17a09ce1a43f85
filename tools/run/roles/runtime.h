// Who plays the roles of a run: threads of one process (local_run.cpp), or ranks over MPI
// (mpi_run.cpp).
#pragma once

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "learner/schedule/early_stop.h"
#include "tools/run/config/train_config.h"
#include "tools/run/start/start.h"

namespace lie {

/// All roles, over in-process queues: a world of one rank. Returns at the end of the run, or where
/// `stop` ends it; throws what failed first.
void run_in_one_process(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const RoleLayout& layout, EarlyStop& stop);

/// This rank's role in a world of several. `prompts`, `stop`: rank 0's count. Collective over the
/// world.
void run_over_mpi(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                  const RoleLayout& layout, EarlyStop& stop);

}  // namespace lie
