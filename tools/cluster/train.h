// lie_cluster train: runs reinforcement learning as a config says.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/comm/job.h"

namespace lie {

struct TrainArguments {
  std::filesystem::path config;
  std::vector<std::string> overrides;  // key=value
  bool dry_run = false;                // only print the resolved config and what a start would do
};

/// Runs this rank's roles in the training. Throws Error, before anything is written if the start is
/// invalid. With `dry_run` it checks the start and writes nothing. Collective over the world.
void train(Job& job, const TrainArguments& arguments);

}  // namespace lie
