// What a replay learns: from which logs, which of their steps and groups, under which settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/replay/group_selection.h"
#include "tools/replay/logged_run.h"

namespace lie::replay {

struct TrainArguments {
  std::vector<std::filesystem::path> runs;  // one or more
  std::filesystem::path directory;          // of the new run
  std::vector<std::string> overrides;       // key=value
  std::filesystem::path from_checkpoint;    // of a run; empty: begin with the start model
  std::string steps;                        // "5-10"; empty: all, from the first
  std::string groups = "all";               // as parse_group_selection has it
  bool run_programs = false;
  double least_sample_share = 0.5;  // below it, a warning
};

/// A step of one of the logs.
struct LoggedStep {
  std::size_t run = 0;
  std::int64_t step = 0;
};

struct ReplayTask {
  /// The first one's settings, with the overrides, are the replay's: LoggedRun::now of all.
  std::vector<LoggedRun> runs;
  TrainConfig config;             // of the new run
  std::int64_t first_step = 0;    // of the checkpoint; 0: of the start model
  std::vector<LoggedStep> steps;  // learned as steps first_step + 1 and on
  GroupSelection groups;
  /// One run's groups, all and in its order: nothing changed, the same bits come out.
  bool is_whole = false;
};

/// Steps of several runs are learned by their number, and of the same number by run. Throws Error
/// for settings that the logged responses do not allow, runs that do not go together, a checkpoint
/// that is damaged or of another run, and steps that are not there.
ReplayTask load_task(const TrainArguments& arguments);

/// Whether the replay changes a key in one of the sections.
bool changes_any(const LoggedRun& run, std::initializer_list<const char*> sections);

inline const auto kScoring = {"reward", "verifier", "coverage"};
inline const auto kLearning = {"advantage", "policy_loss", "update", "optimizer"};

}  // namespace lie::replay
