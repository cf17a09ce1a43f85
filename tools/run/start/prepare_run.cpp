#include "tools/run/start/prepare_run.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/file.h"
#include "common/process/log.h"
#include "learner/record/metrics_repair.h"
#include "learner/schedule/journal.h"
#include "tools/run/start/check_directory.h"
#include "tools/run/start/find_start.h"
#include "tools/run/start/lost_data.h"
#include "tools/run/start/resume.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

PreparedRun prepared_run(RunStart start, RunInputs inputs) {
  start.end_of_sequence_ids = inputs.ends.ids;
  return {std::move(start), std::move(inputs)};
}

/// With run.resume changed: keeps the settings that differ from those of `config` as those of the
/// logged steps, and sets aside the groups of the unfinished steps, which were scored with them. A
/// kill at any moment leaves the run with the old settings until config.yaml is replaced.
void keep_former_settings(TrainConfig config) {
  const fs::path directory = config.run.directory;
  if (config.run.resume != Resume::kChanged || !fs::exists(directory / "config.yaml")) return;
  const std::string differences = differences_text(directory, fields_of(config));
  if (differences.empty()) return;
  const std::int64_t last = recover_saved_steps(config).logged_step;
  if (last > 0) keep_former_config(directory, last);
  const Log log("learner", 0);
  log.info("the settings change after step {}: {}", last, differences);
  if (!fs::exists(directory / "journal")) return;
  const fs::path aside = set_aside(directory / "journal", fmt::format(".step-{:06}", last));
  log.warn(
      "the groups of step {} so far were generated with the old settings: they are now in {}, "
      "and the step begins again",
      last + 1, aside.string());
}

/// Makes this job the only writer of run.directory, which then holds the config of the run and the
/// folders of its files.
void open_directory(Job& job, TrainConfig config, std::string_view command) {
  const fs::path directory = config.run.directory;
  set_failed_start_aside(config);
  make_directories(directory);
  become_writer(job, directory, command);
  // Check again under the lock: another process may have created a run there in the meantime.
  check_directory(config);
  keep_former_settings(config);
  // The config comes first, because files without a config do not count as a run.
  write_run_config(directory, fields_of(config));
  make_directories(directory / "trajectories");
  make_directories(directory / "checkpoints");
}

/// Removes the groups of steps up to `logged_step` from the journal. With first_groups, a later
/// step may still use a journaled group of the last of these steps.
void drop_logged_groups(const TrainConfig& config, std::int64_t logged_step) {
  const bool takes_first = config.tickets.takes_first_groups();
  Journal(config.run.directory)
      .remove_up_to(logged_step - (takes_first ? config.tickets.max_staleness : 0));
}

/// Repairs metrics.jsonl and warns about data of the steps up to `last` that is lost.
void report_losses(const TrainConfig& config, std::int64_t last) {
  const std::int64_t start = first_start(config).step;
  const bool evaluates_start = start == 0 && config.evaluation.every > 0;
  repair_metrics(config.run.directory, evaluates_start ? 0 : start + 1, last, config.advantage);
  for (const std::string& note : lost_data(config.run.directory, start + 1, last)) {
    Log("learner", 0).warn("{}", note);
  }
}

/// Prepares the files of the stage of the run that comes next. `checked`: the inputs, if they were
/// checked with the settings of `config`, which a part with former settings does not have.
PreparedRun prepare_stage(const TrainConfig& config, std::optional<RunInputs> checked) {
  const SavedSteps saved = recover_saved_steps(config);
  RunStart start = find_start(config, saved);
  const TrainConfig settings = settings_of(config, start);
  const bool is_checked = checked && start.settings.empty();
  RunInputs inputs = is_checked ? std::move(*checked) : check_inputs(settings);
  drop_logged_groups(config, saved.logged_step);
  report_losses(settings, start.step);
  return prepared_run(std::move(start), std::move(inputs));
}

}  // namespace

PreparedRun prepare_run(Job& job, const TrainConfig& config, std::string_view command) {
  check_directory_before_start(config);
  RunInputs inputs = check_inputs(config);
  open_directory(job, config, command);
  return prepare_stage(config, std::move(inputs));
}

PreparedRun prepare_next_stage(const TrainConfig& config) { return prepare_stage(config, {}); }

TrainConfig settings_of(const TrainConfig& config, const RunStart& start) {
  if (start.settings.empty()) return config;
  TrainConfig settings = load_train_config(start.settings, {});
  TrainConfig now = config;
  copy_what_changes_no_result(fields_of(settings), fields_of(now));
  return settings;
}

PreparedRun plan_run(const TrainConfig& config) {
  check_directory_before_start(config);
  RunInputs inputs = check_inputs(config);
  check_writable(config.run.directory);
  try_programs(config, inputs.prompts.training.front());
  return prepared_run(expected_start(config), std::move(inputs));
}

EarlyStop early_stop(const Job& job, const TrainConfig& config) {
  return EarlyStop([&job] { return job.stop_signal(); },
                   seconds_left(config.run.time_limit_minutes));
}

}  // namespace lie
