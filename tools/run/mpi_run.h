// A world of several ranks: this rank plays its role over MPI.
#pragma once

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "learner/early_stop.h"
#include "tools/run/start.h"
#include "tools/run/train_config.h"

namespace lie {

/// `prompts`, `stop`: rank 0's count. Collective over the world.
void run_over_mpi(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                  const RoleLayout& layout, EarlyStop& stop);

}  // namespace lie
