// lie_replay train: a learner over a run's log, with no token generated.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/comm/job.h"

namespace lie::replay {

struct TrainArguments {
  std::filesystem::path run;
  std::filesystem::path directory;     // of the new run
  std::vector<std::string> overrides;  // key=value
  bool run_programs = false;
  double least_sample_share = 0.5;  // below it, a warning
};

/// Runs this rank's part: each rank is a learner, the first also reads and scores. Goes on where
/// the directory holds this replay. Throws Error. Collective over the world.
void train_command(Job& job, const TrainArguments& arguments);

}  // namespace lie::replay
