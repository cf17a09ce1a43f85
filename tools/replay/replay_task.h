// The task of a replay: the logs, their steps and groups, and the settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "common/config/number_text.h"
#include "common/rollout/rollout.h"
#include "tools/replay/logged_run.h"

namespace lie::replay {

struct GroupSelection {
  bool only_mixed = false;  // only groups with correct and incorrect responses
  NumberRange numbers;      // positions in the step, from 0
};

/// Parses "all", "mixed", or positions such as "0-7". Throws Error for any other text.
GroupSelection parse_group_selection(const std::string& text);

/// Removes the groups that are not selected, by their current verdicts. Returns false and keeps all
/// groups if none is selected, because a step needs a group.
bool keep_selected(std::vector<ScoredGroup>& groups, const GroupSelection& selection);

struct TrainArguments {
  std::vector<std::filesystem::path> runs;  // one or more
  std::filesystem::path directory;          // of the new run
  std::vector<std::string> overrides;       // key=value
  std::filesystem::path from_checkpoint;    // of a run; empty: begin with the start model
  std::string steps;                        // "5-10"; empty: all, from the first
  std::string groups = "all";               // a text for parse_group_selection
  bool run_programs = false;
  double least_sample_share = 0.5;  // a smaller effective sample share causes a warning
};

struct LoggedStep {
  std::size_t run = 0;
  std::int64_t step = 0;
};

struct ReplayTask {
  /// The replay's settings are those of the first run with the overrides: LoggedRun::now of all.
  std::vector<LoggedRun> runs;
  TrainConfig config;             // of the new run
  std::int64_t first_step = 0;    // step of the checkpoint; 0: the start model
  std::vector<LoggedStep> steps;  // learned as steps first_step + 1, first_step + 2, ...
  GroupSelection groups;
  /// Whether these are all groups of one run in its order. Without changed settings the replay is
  /// then bit-identical to the run.
  bool is_whole = false;
};

/// Loads the runs and chooses steps. Steps of several runs are learned by number, and those of
/// equal number by run. Throws Error for settings that the logged responses do not allow,
/// incompatible runs, a checkpoint that is damaged or of another run, and steps that are missing.
ReplayTask load_task(const TrainArguments& arguments);

/// Returns whether the replay changes a key in one of the sections.
bool changes_any(const LoggedRun& run, std::initializer_list<const char*> sections);

inline const auto kScoring = {"reward", "verifier", "coverage"};
inline const auto kLearning = {"advantage", "policy_loss", "update", "optimizer"};

}  // namespace lie::replay
