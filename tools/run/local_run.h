// All roles in one process, on threads, over in-process queues: a world of one rank.
#pragma once

#include "common/comm/roles.h"
#include "learner/early_stop.h"
#include "tools/run/start.h"
#include "tools/run/train_config.h"

namespace lie {

/// Returns at the end of the run, or where `stop` ends it; throws what failed first.
void run_in_one_process(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const RoleLayout& layout, EarlyStop& stop);

}  // namespace lie
