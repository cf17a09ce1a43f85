// lie_cluster train: from a config to a finished run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/comm/job.h"

namespace lie {

struct TrainArguments {
  std::filesystem::path config;
  std::vector<std::string> overrides;  // key=value
};

/// Runs this rank's part of the training. Throws Error. Collective over the world.
void train(Job& job, const TrainArguments& arguments);

}  // namespace lie
