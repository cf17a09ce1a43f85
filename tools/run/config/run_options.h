// The config section "run": directory, length, resume and schedule of a run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/options.h"

namespace lie {

/// What to do if the run directory already exists.
enum class Resume : std::uint8_t { kAuto, kNever, kMust, kChanged };

/// Whether the order of events is recorded, so that the run can be repeated.
enum class ScheduleMode : std::uint8_t { kFree, kRecorded };

/// The section "run" of commands that need only a directory.
struct DirectoryOptions {
  std::string directory;
};
void describe(FieldList& fields, DirectoryOptions& options);

/// The logs from which the learner of a replay trains, set by lie_replay train. Each is empty in a
/// run that generates.
struct ReplayOptions {
  std::vector<std::string> of;      // run directories
  std::string from, steps, groups;  // of TrainArguments (tools/replay/replay_task.h)
  bool operator==(const ReplayOptions&) const = default;
};

struct RunOptions {
  std::string directory = "runs/run";
  std::int64_t seed = 1;
  std::int64_t steps = 100;
  std::int64_t epochs = 0;  // 0: steps counts
  std::string stop_when;    // a MetricCondition; empty: none
  Resume resume = Resume::kAuto;
  double time_limit_minutes = 0;              // 0: none
  double collective_time_limit_minutes = 10;  // see Job::limit_collectives()
  ScheduleMode schedule = ScheduleMode::kFree;
  std::string follow_schedule;  // a file; empty: none
  ReplayOptions replay;
};
void describe(FieldList& fields, RunOptions& options);

/// Adds the field of the limit of Job::limit_collectives().
void add_collective_time_limit(FieldList& fields, double& minutes);

}  // namespace lie
