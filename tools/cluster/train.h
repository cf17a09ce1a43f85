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
  bool dry_run = false;                // only say what a start would do, and the resolved config
};

/// Runs this rank's part of the training. Throws Error; before anything is written if the start is
/// at fault, and with `dry_run` the same. Collective over the world.
void train(Job& job, const TrainArguments& arguments);

}  // namespace lie
