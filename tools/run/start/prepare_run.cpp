#include "tools/run/start/prepare_run.h"

#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/file.h"
#include "common/io/sha256.h"
#include "common/process/log.h"
#include "common/process/start_record.h"
#include "common/text/printable.h"
#include "learner/record/metrics_repair.h"
#include "learner/schedule/journal.h"
#include "tools/run/start/check_directory.h"
#include "tools/run/start/find_start.h"
#include "tools/run/start/input_difference.h"
#include "tools/run/start/input_record.h"
#include "tools/run/start/lost_data.h"
#include "tools/run/start/resume.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Returns the SHA-256 of rows as programs receive them.
std::string rows_sha256(std::span<const Prompt> prompts) {
  Sha256 sha;
  for (const Prompt& prompt : prompts) sha.update(prompt.row + "\n");
  return sha.hex_digest();
}

/// Returns the record of what the run reads. Reads the weights once, unless `has_weights` is false.
InputRecord record_of(const TrainConfig& config, const RunInputs& inputs, bool has_weights = true) {
  InputRecord record = model_record(config.model, config.data, inputs.ends, has_weights);
  record.teacher_path = teacher_of(config.policy_loss);
  if (has_weights && !record.teacher_path.empty()) record_teacher(record, record.teacher_path);
  record.train_file = fmt::format("{}", fmt::join(config.data.train_file, ", "));
  record.evaluation_file = fmt::format("{}", fmt::join(config.data.evaluation_file, ", "));
  record.training = training_rows(inputs.prompts.training);
  if (config.evaluation.every > 0) record.evaluation = prompt_rows(inputs.prompts.evaluation);
  if (!config.data.keep_rows) return record;
  const std::string commands[] = {config.reward.command, config.verifier_program.command};
  record.program_files = program_files(commands);
  record.program_rows = rows_sha256(inputs.prompts.training.prompts);
  if (record.evaluation) record.evaluation_program_rows = rows_sha256(inputs.prompts.evaluation);
  return record;
}

/// Throws Error if run.follow_schedule is in the directory of a run with other inputs, which would
/// not be repeated. Its evaluation rows may differ.
void check_repeated_inputs(const TrainConfig& config, const InputRecord& now) {
  if (config.run.follow_schedule.empty()) return;
  check_same_inputs(fs::path(config.run.follow_schedule).parent_path(), now,
                    {.settings_may_change = true,
                     .otherwise = "copy the schedule into another directory, where it is not "
                                  "compared"});
}

PreparedRun prepared_run(RunStart start, RunInputs inputs, const InputRecord& record) {
  start.end_of_sequence_ids = inputs.ends.ids;
  start.model_sha256 = policy_sha256(record);
  start.base_sha256 = record.weights;
  return {std::move(start), std::move(inputs)};
}

/// With run.resume changed: keeps the settings that differ from those of `config` as those of the
/// logged steps, and sets aside the groups of the unfinished steps, which were scored with them or
/// belong to other evaluation rows. A kill at any moment leaves the run with the old settings until
/// config.yaml is replaced.
void keep_former_settings(TrainConfig config, const InputRecord& now) {
  const fs::path directory = config.run.directory;
  if (config.run.resume != Resume::kChanged || !fs::exists(directory / kConfigFile)) return;
  const std::string differences = differences_text(directory, fields_of(config));
  const bool has_new_settings = !differences.empty();
  const bool has_new_rows =
      !input_difference(recorded_inputs(directory), now, directory.string()).empty();
  if (!has_new_settings && !has_new_rows) return;
  const std::int64_t last = recover_saved_steps(config).logged_step;
  const std::vector<FormerConfig> former = former_configs(directory);
  // A later former config means that no step of the present settings is left.
  if (last > 0 && (former.empty() || former.back().last_step < last)) {
    keep_former_config(directory, last);
  }
  const Log log("learner", 0);
  log.info("the settings change after step {}: {}", last,
           has_new_settings ? differences : "other rows in data.evaluation_file");
  if (!fs::exists(directory / kJournal)) return;
  const fs::path aside = set_aside(directory / kJournal, fmt::format(".step-{:06}", last));
  log.warn(
      "the groups of step {} so far were generated with the old settings: they are now in {}, "
      "and the step begins again",
      last + 1, aside.string());
}

/// Warns of a reward or verifier program that is not the one of the last start.
void warn_of_program(const TrainConfig& config, const InputRecord& now) {
  if (!fs::exists(fs::path(config.run.directory) / kConfigFile)) return;
  Log("learner", 0).warn_if_any(program_change(recorded_inputs(config.run.directory), now));
}

/// Makes this job the only writer of run.directory, which then holds the config of the run and the
/// folders of its files.
void open_directory(Job& job, TrainConfig config, const InputRecord& inputs,
                    std::string_view command) {
  const fs::path directory = config.run.directory;
  set_failed_start_aside(config, inputs);
  open_run_directory(job, directory, fields_of(config), inputs, command, [&] {
    check_directory(config);
    check_inputs_of_run(config, inputs);
    keep_former_settings(config, inputs);
    warn_of_program(config, inputs);
  });
  record_this_start(job, directory, command);
  make_directories(directory / kTrajectories);
  make_directories(directory / kCheckpoints);
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
  Log("learner", 0).warn_each(lost_data(config.run.directory, start + 1, last));
}

/// Throws Error if an input of a later stage is not the one that the run records. Rows of
/// evaluations and teachers may differ from stage to stage.
void check_unchanged(const TrainConfig& config, const TrainConfig& settings,
                     const RunInputs& inputs) {
  check_same_inputs(config.run.directory, record_of(settings, inputs, /*has_weights=*/false),
                    {.settings_may_change = true, .names_other_teacher = true});
}

/// Returns the full command of a former config, where it is the present one but for its secrets.
std::string with_secrets(const std::string& stored, const std::string& present) {
  return stored == without_secrets(present) ? present : stored;
}

/// Prepares the files of the stage of the run that comes next. `checked`: the inputs, if they were
/// checked with the settings of `config`, which a stage with former settings does not have.
PreparedRun prepare_stage(const TrainConfig& config, std::optional<RunInputs> checked) {
  const SavedSteps saved = recover_saved_steps(config);
  RunStart start = find_start(config, saved);
  const TrainConfig settings = settings_of(config, start);
  const bool is_checked = checked && start.settings.empty();
  const bool is_logged = saved.logged_step >= start.last_step;
  RunInputs inputs = is_checked ? std::move(*checked)
                                : check_inputs(settings, is_logged ? EvaluationRows::kSkip
                                                                   : EvaluationRows::kRead);
  if (!is_checked) check_unchanged(config, settings, inputs);
  drop_logged_groups(config, saved.logged_step);
  report_losses(settings, start.step);
  return prepared_run(std::move(start), std::move(inputs), recorded_inputs(config.run.directory));
}

}  // namespace

PreparedRun prepare_run(Job& job, const TrainConfig& config, std::string_view command,
                        const fs::path& replayed) {
  check_directory_before_start(config);
  RunInputs inputs = check_inputs(config);
  const InputRecord record = record_of(config, inputs);
  if (!replayed.empty()) {
    check_same_inputs(replayed, record,
                      {.otherwise = "name where it is by --set model.path=DIRECTORY or "
                                    "data.train_file=FILE"});
  }
  check_inputs_of_run(config, record);
  check_repeated_inputs(config, record);
  open_directory(job, config, record, command);
  for (const std::string& warning : inputs.warnings) record_warning(config.run.directory, warning);
  return prepare_stage(config, std::move(inputs));
}

PreparedRun prepare_next_stage(const TrainConfig& config) { return prepare_stage(config, {}); }

TrainConfig settings_of(const TrainConfig& config, const RunStart& start) {
  if (start.settings.empty()) return config;
  TrainConfig settings = load_train_config(start.settings, {});
  TrainConfig now = config;
  copy_what_changes_no_result(fields_of(settings), fields_of(now));
  settings.reward.command = with_secrets(settings.reward.command, config.reward.command);
  settings.verifier_program.command =
      with_secrets(settings.verifier_program.command, config.verifier_program.command);
  return settings;
}

PreparedRun plan_run(const TrainConfig& config) {
  check_directory_before_start(config);
  RunInputs inputs = check_inputs(config);
  check_writable(config.run.directory);
  try_programs(config, inputs.prompts.training.prompts.front());
  const bool holds_run = fs::exists(fs::path(config.run.directory) / kConfigFile);
  const InputRecord record = record_of(config, inputs, /*has_weights=*/holds_run);
  check_inputs_of_run(config, record);
  check_repeated_inputs(config, record);
  warn_of_program(config, record);
  return prepared_run(expected_start(config), std::move(inputs), record);
}

EarlyStop early_stop(const Job& job, const TrainConfig& config) {
  return EarlyStop([&job] { return job.stop_signal(); },
                   seconds_left(config.run.time_limit_minutes));
}

}  // namespace lie
