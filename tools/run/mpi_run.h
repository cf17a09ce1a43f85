// A world of several ranks: this rank plays its role over MPI.
#pragma once

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "tools/run/start.h"
#include "tools/run/train_config.h"

namespace lie {

/// `prompts`: on rank 0. Collective over the world.
void run_over_mpi(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                  const RoleLayout& layout);

}  // namespace lie
