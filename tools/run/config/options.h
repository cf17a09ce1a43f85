// Config sections that belong to no other folder: the run as a whole and its model.
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
/// How the frozen base of an adapter is quantized: not at all, or to NF4.
enum class BaseQuantization : std::uint8_t { kNone, kNormalFloat4 };

/// The adapter that a run trains instead of all weights (LoRA). The defaults are those of verl.
struct LoraOptions {
  std::int64_t rank = 0;  // 0: all weights are trained
  double alpha = 16;
  std::vector<std::string> targets = {"all-linear"};
  BaseQuantization quantize_base = BaseQuantization::kNone;
};
void describe(FieldList& fields, LoraOptions& options);

/// Throws Error if the options do not go together.
void check_options(const LoraOptions& options);

inline bool trains_adapter(const LoraOptions& options) { return options.rank > 0; }

struct ModelOptions {
  std::string path;
  std::string adapter = {};  // a directory; empty: none, or that of `path`
  std::string device = "cpu";
  std::int64_t threads = 0;
  LoraOptions lora = {};  // of commands that train, which describe it in "model.lora"
};
void describe(FieldList& fields, ModelOptions& options);

}  // namespace lie
