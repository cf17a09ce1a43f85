#include "tools/run/start/find_start.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/config/config_history.h"
#include "common/io/metrics_log.h"
#include "common/process/log.h"
#include "common/trajectory/recovery.h"
#include "common/trajectory/step_log.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/saved_checkpoints.h"
#include "learner/checkpoint/trainer_state.h"
#include "learner/record/metric_condition.h"
#include "tools/run/start/lost_data.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

RunStart start_at(const fs::path& checkpoint) {
  return {.step = load_trainer_state(checkpoint).step,
          .model_directory = checkpoint,
          .from_checkpoint = true};
}

/// Returns the start from the last valid checkpoint of step `at_most` or before. Without one, the
/// run starts as it first did, and the log holds all steps since. `find` is valid_checkpoint or
/// find_valid_checkpoint.
RunStart start_of(const TrainConfig& config, const auto& find, std::int64_t at_most = kAnyStep) {
  const fs::path directory = config.run.directory;
  const Log log("learner", 0);
  const auto log_holds = [&](std::int64_t step) {
    return log_holds_all_up_to(step, directory, log);
  };
  const auto checkpoint = find(directory / kCheckpoints, log, log_holds, at_most);
  return checkpoint ? start_at(*checkpoint) : first_start(config);
}

/// Returns an earlier start if the schedule needs older weights. It may request the weights of
/// max_staleness steps before the first generated step, so the run repeats those steps.
RunStart early_enough(RunStart start, const TrainConfig& config) {
  const fs::path directory = config.run.directory;
  const std::int64_t oldest = start.logged_step - config.tickets.max_staleness;
  const bool generates = start.logged_step < config.run.steps;
  if (config.run.follow_schedule.empty() || !generates ||
      start.step <= std::max<std::int64_t>(0, oldest)) {
    return start;
  }
  RunStart earlier = start_of(config, valid_checkpoint, oldest);
  earlier.logged_step = StepLog(directory / kTrajectories, earlier.step).last_after(earlier.step);
  if (earlier.logged_step == start.logged_step) return earlier;
  fail(
      "{}: the schedule may need the weights after step {}, but no checkpoint and log lead to "
      "them; raise checkpoint.keep_last and trajectories.keep_last_steps",
      directory.string(), oldest);
}

/// Returns the step with which the run ends: run.steps, or the first logged step that meets
/// run.stop_when.
std::int64_t end_of_run(const TrainConfig& config, std::int64_t logged_step) {
  const auto goal = parse_metric_condition(config.run.stop_when);
  if (!goal) return config.run.steps;
  for (const MetricsRow& row :
       read_valid_metrics(fs::path(config.run.directory) / kMetricsFile).rows) {
    if (row.step <= logged_step && goal->holds(row)) return std::min(row.step, config.run.steps);
  }
  return config.run.steps;
}

/// Returns the stage of the run that begins at `start`: up to the first change of settings after
/// it, or up to the end of the run.
RunStart with_stage(RunStart start, const TrainConfig& config) {
  start.last_step = end_of_run(config, std::max(start.step, start.logged_step));
  const std::vector<FormerConfig> former = former_configs(config.run.directory);
  const auto stage = std::ranges::upper_bound(former, start.step, {}, &FormerConfig::last_step);
  if (stage == former.end()) return start;
  start.last_step = std::min(stage->last_step, start.last_step);
  start.settings = stage->path;
  return start;
}

}  // namespace

SavedSteps recover_saved_steps(const TrainConfig& config) {
  SavedSteps saved{.checkpoint = start_of(config, valid_checkpoint)};
  saved.logged_step = recover_log(fs::path(config.run.directory) / kTrajectories,
                                  saved.checkpoint.step, Log("learner", 0));
  return saved;
}

RunStart find_start(const TrainConfig& config, const SavedSteps& saved) {
  RunStart start = saved.checkpoint;
  start.logged_step = std::min(saved.logged_step, config.run.steps);
  return with_stage(early_enough(std::move(start), config), config);
}

RunStart expected_start(const TrainConfig& config) {
  RunStart start = with_stage(start_of(config, find_valid_checkpoint), config);
  start.logged_step = start.step;
  return start;
}

RunStart first_start(const TrainConfig& config) {
  if (!config.run.replay.from.empty()) return start_at(config.run.replay.from);
  return {.step = 0, .model_directory = config.model.path, .from_checkpoint = false};
}

}  // namespace lie
