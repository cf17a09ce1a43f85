// The commands of lie_replay: score says what a run's responses are worth under its own settings or
// under others, train has a learner learn from the logs of one or more runs with no token
// generated, export hands logged responses on as a data set.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/comm/job.h"
#include "tools/replay/replay_task.h"

namespace lie::replay {

struct ScoreArguments {
  std::filesystem::path run;
  std::vector<std::string> overrides;  // key=value
  std::filesystem::path json, html;    // empty: none
  bool run_programs = false;
  int threads = 0;  // of a rank; 0: the cores are shared
};

/// The ranks share the steps; rank 0 prints to standard output. Returns rank 0's exit status: 1
/// where no setting was changed and yet a value differs. Collective over the world. Throws Error.
int score_command(Job& job, const ScoreArguments& arguments);

/// Runs this rank's part: each rank is a learner, the first also reads and scores. Goes on where
/// the directory holds this replay. Throws Error. Collective over the world.
void train_command(Job& job, const TrainArguments& arguments);

}  // namespace lie::replay
