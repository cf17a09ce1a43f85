// lie_replay score: what a run's responses are worth under its own settings, or under others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lie::replay {

struct ScoreArguments {
  std::filesystem::path run;
  std::vector<std::string> overrides;  // key=value
  std::filesystem::path json, html;    // empty: none
  bool run_programs = false;
  int threads = 0;  // 0: a thread for each core
};

/// Prints to standard output. Returns the exit status: 1 where no setting was changed and yet a
/// value differs. Throws Error.
int score_command(const ScoreArguments& arguments);

}  // namespace lie::replay
