// lie_replay score: what a run's responses are worth under its own settings, or under others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/comm/job.h"

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

}  // namespace lie::replay
