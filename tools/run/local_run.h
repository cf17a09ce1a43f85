// A world of one rank: all roles in one process, on threads, over in-process queues.
#pragma once

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "tools/run/start.h"
#include "tools/run/train_config.h"

namespace lie {

void run_in_one_process(Job& job, const TrainConfig& config, const RunStart& start,
                        const RoleLayout& layout);

}  // namespace lie
