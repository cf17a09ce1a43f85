// lie_replay train: a learner over the logs of one or more runs, with no token generated.
#pragma once

#include "common/comm/job.h"
#include "tools/replay/replay_task.h"

namespace lie::replay {

/// Runs this rank's part: each rank is a learner, the first also reads and scores. Goes on where
/// the directory holds this replay. Throws Error. Collective over the world.
void train_command(Job& job, const TrainArguments& arguments);

}  // namespace lie::replay
