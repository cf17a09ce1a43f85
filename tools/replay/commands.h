// The commands of lie_replay. score computes what a run's responses are worth under its own
// settings or under others. train runs a learner on the logs of one or more runs without generating
// a token.
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

/// Scores every logged response again. The ranks share the steps; rank 0 prints to standard output.
/// Returns rank 0's exit status: 1 if no setting was changed and yet a value differs. Collective
/// over the world. Throws Error.
int score_command(Job& job, const ScoreArguments& arguments);

/// Runs this rank as a learner; rank 0 also reads and scores. Resumes if the directory holds this
/// replay. Throws Error. Collective over the world.
void train_command(Job& job, const TrainArguments& arguments);

}  // namespace lie::replay
