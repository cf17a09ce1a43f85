#include "tools/run/start/start.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "actors/generator.h"
#include "common/base/error.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/file.h"
#include "common/io/metrics_log.h"
#include "common/process/log.h"
#include "common/process/stop_signals.h"
#include "common/process/writer_lock.h"
#include "common/text/counted.h"
#include "common/trajectory/recovery.h"
#include "common/trajectory/step_log.h"
#include "learner/checkpoint/checkpoint_files.h"
#include "learner/checkpoint/saved_checkpoints.h"
#include "learner/record/curve_recorder.h"
#include "learner/record/evaluation_metrics.h"
#include "learner/schedule/journal.h"
#include "learner/schedule/rollout_schedule.h"
#include "model/tokenizer/tokenizer.h"
#include "rewards/reward_worker.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/devices.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/input/prompts.h"
#include "tools/run/start/resume.h"

namespace lie {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunStart, step, model_directory, from_checkpoint, logged_step,
                                   last_step, settings, end_of_sequence_ids)

namespace {

/// Returns the keys and sections that run.resume changed allows to differ from the run's. If
/// steps take the first groups, the staleness says which groups are left for later steps.
std::vector<std::string> changeable_keys(const TrainConfig& config) {
  std::vector<std::string> keys = {"optimizer", "policy_loss", "evaluation", "data.evaluation_file",
                                   "rollout.max_response_tokens"};
  for (const RewardName& term : reward_names({})) keys.push_back("reward." + term.name);
  if (!config.tickets.takes_first_groups()) keys.emplace_back("rollout.max_staleness");
  return keys;
}

/// Returns whether run.directory holds a run that this start resumes. Throws Error as
/// holds_this_run() does.
bool holds_run(TrainConfig config) {
  const std::string& directory = config.run.directory;
  const FieldList fields = fields_of(config);
  const std::vector<std::string> changeable = changeable_keys(config);
  if (config.run.resume == Resume::kChanged) return holds_this_run(directory, fields, changeable);
  const bool can_change = fs::exists(fs::path(directory) / "config.yaml") &&
                          differences_text(directory, fields, changeable).empty();
  return holds_this_run(
      directory, fields, {},
      can_change ? "set run.resume=changed to continue with the new ones from the first step not "
                   "logged, "
                 : "");
}

/// Throws Error if run.resume forbids continuing the run in the directory, or beginning a new one.
void check_directory(const TrainConfig& config) {
  const std::string& directory = config.run.directory;
  const bool resumes = holds_run(config);
  if (!resumes && config.run.resume == Resume::kMust) {
    fail("run.directory {} holds no run to continue, but run.resume is must: check the path",
         directory);
  }
  if (resumes && config.run.resume == Resume::kNever) {
    fail("run.directory {} already holds a run, but run.resume is never: name another directory",
         directory);
  }
}

/// Returns whether the start first renames the directory of a failed start.
bool replaces_failed_start(TrainConfig config) {
  return config.run.resume == Resume::kAuto &&
         holds_failed_start(config.run.directory, fields_of(config));
}

/// Throws Error like check_directory(), unless the start will first rename the directory.
void check_free_directory(const TrainConfig& config) {
  if (!replaces_failed_start(config)) check_directory(config);
}

/// Renames a directory in which another config failed before its first step, so that the corrected
/// command can be started in it. Nothing is deleted. Throws Error if that start is still running.
void set_failed_start_aside(const TrainConfig& config) {
  if (!replaces_failed_start(config)) return;
  check_unlocked(config.run.directory);
  const fs::path aside = set_aside(config.run.directory, ".failed");
  Log("learner", 0)
      .warn("{} held a start of another config that failed before its first step; it is now {}",
            config.run.directory, aside.string());
}

/// Returns the names of the run's evaluation metrics, or none if it does not evaluate. Numbers of
/// reward programs are missing, since their names are known only from their replies.
std::vector<std::string> evaluation_metrics(const TrainConfig& config,
                                            std::span<const Prompt> prompts) {
  if (config.evaluation.every == 0) return {};
  ScoringOptions scoring = scoring_options(config);
  scoring.rewards.command.clear();
  scoring.verifier_program.command.clear();
  Scorer scorer(scoring);
  RolloutGroup empty;
  empty.ticket.purpose = Purpose::kEvaluate;
  empty.responses.resize(1);
  const auto no_text = [](std::span<const std::int32_t>) { return std::string(); };
  return evaluation_metric_names(prompts, score_group(scorer, empty, no_text).scores.front());
}

/// Throws Error if keep_best or stop_when names no evaluation metric. Warns if evaluated steps are
/// not always saved.
void check_best(const TrainConfig& config, std::span<const Prompt> evaluation, const Log& log) {
  const std::vector<std::string> given = evaluation_metrics(config, evaluation);
  check_metric("checkpoint.keep_best", config.best_checkpoint.keep_best, given);
  if (const auto goal = parse_metric_condition(config.run.stop_when)) {
    check_metric("run.stop_when", goal->metric, given);
  }
  const std::int64_t every = config.checkpoint.every, evaluated = config.evaluation.every;
  if (config.best_checkpoint.keep_best.empty() || (every > 0 && evaluated % every == 0)) return;
  log.warn(
      "checkpoint.keep_best chooses among the steps that are both evaluated and saved: "
      "evaluation.every {} is not a multiple of checkpoint.every {}",
      evaluated, every);
}

/// Loads what every role needs, so that bad input is reported before anything is written.
RunPrompts check_prompts(const TrainConfig& config) {
  RunPrompts prompts;
  const Log log("learner", 0);
  prompts.training =
      read_run_prompts(config.data.train_file, config.data, config.model.path, log).prompts;
  reward_terms(
      config.reward,
      config.rollout.sampling.max_response_tokens);  // throws if a term does not fit the limit
  for (const Prompt& prompt : prompts.training) {
    Ticket ticket;
    ticket.prompt = prompt;
    check_scorable(config.reward, ticket);
  }
  if (config.evaluation.every > 0) {
    prompts.evaluation =
        read_evaluation_prompts(config.data.evaluation_file, config.evaluation.prompts, config.data,
                                config.model.path, log);
  }
  check_best(config, prompts.evaluation, log);
  for (const std::string& warning : config_warnings(config, prompts.training))
    log.warn("{}", warning);
  return prompts;
}

/// Runs the reward and verifier programs of the config once, as a reward worker does, on a prompt
/// whose response is its gold answer.
void try_programs(const TrainConfig& config, const Prompt& prompt) {
  const ScoringOptions scoring = scoring_options(config);
  if (scoring.rewards.command.empty() && scoring.verifier_program.command.empty()) return;
  const std::string text = fmt::format("\\boxed{{{}}}", prompt.gold);
  RolloutGroup answered;
  answered.ticket = {.step = 1, .samples = 1, .prompt = prompt};
  answered.responses.resize(1);
  answered.responses[0].ids = Tokenizer::load(config.model.path).encode(text);
  Scorer scorer(scoring);
  score_group(scorer, std::move(answered), [&](std::span<const std::int32_t>) { return text; });
  scorer.finish();
  Log("learner", 0).info("reward programs: answered a test question about the first prompt");
}

RunStart start_at(const fs::path& checkpoint) {
  return {.step = load_trainer_state(checkpoint).step,
          .model_directory = checkpoint,
          .from_checkpoint = true};
}

/// Returns the start of a run without own checkpoint: the configured model, or for a replay the
/// checkpoint of run.replay_from.
RunStart first_start(const TrainConfig& config) {
  if (!config.run.replay_from.empty()) return start_at(config.run.replay_from);
  return {.step = 0, .model_directory = config.model.path, .from_checkpoint = false};
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
  const auto checkpoint = find(directory / "checkpoints", log, log_holds, at_most);
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
  earlier.logged_step = StepLog(directory / "trajectories", earlier.step).last_after(earlier.step);
  if (earlier.logged_step == start.logged_step) return earlier;
  fail(
      "{}: the schedule may need the weights after step {}, but no checkpoint and log lead to "
      "them; raise checkpoint.keep_last and trajectories.keep_last_steps",
      directory.string(), oldest);
}

/// Throws Error if run.follow_schedule does not reach the end of the run. Warns if the run cannot
/// be repeated.
void check_schedule(TrainConfig config) {
  const RunOptions& run = config.run;
  if (!run.follow_schedule.empty()) {
    check_repeats(run.follow_schedule, fields_of(config));
    const RolloutSchedule schedule(run.follow_schedule);
    if (schedule.takes_first_groups() != config.tickets.takes_first_groups()) {
      fail("{} belongs to a run with rollout.complete_with {}; set the same value",
           run.follow_schedule, schedule.takes_first_groups() ? "first_groups" : "own_groups");
    }
    const std::int64_t last = schedule.last_step();
    if (last >= run.steps) return;
    if (last == 0) fail("{} holds no step: name the schedule.jsonl of a run", run.follow_schedule);
    fail("{} ends with step {}, but run.steps is {}: lower run.steps", run.follow_schedule, last,
         run.steps);
  }
  if (config.tickets.max_staleness == 0 || run.schedule == ScheduleMode::kRecorded) return;
  Log("learner", 0)
      .warn(
          "rollout.max_staleness {}: which weights sample a response depends on timing, so "
          "neither this run nor a resume of it can be repeated bit for bit; run.schedule=recorded "
          "writes the schedule that repeats it",
          config.tickets.max_staleness);
}

PreparedRun check_inputs(const TrainConfig& config) {
  PreparedRun run;
  EndTokens ends = end_tokens(config.model.path, config.data.prompt_template, config.rollout);
  run.start.end_of_sequence_ids = std::move(ends.ids);
  run.ends = std::move(ends.text);
  run.model = plan_weights(config.model.path);
  for (const std::string& remark : model_remarks(config.model.path)) {
    Log("learner", 0).warn("{}", remark);
  }
  run.dtypes = make_operators(config.model, 1)->dtypes();
  kv_cache_pages(run.model.config, config.rollout,
                 run.dtypes.packed);  // throws if responses do not fit
  run.prompts = check_prompts(config);
  check_schedule(config);
  return run;
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

/// Replaces run.start but keeps its end_of_sequence_ids.
void set_start(PreparedRun& run, RunStart start) {
  start.end_of_sequence_ids = std::move(run.start.end_of_sequence_ids);
  run.start = std::move(start);
}

/// Returns the step with which the run ends: run.steps, or the first logged step that meets
/// run.stop_when.
std::int64_t end_of_run(const TrainConfig& config, std::int64_t logged_step) {
  const auto goal = parse_metric_condition(config.run.stop_when);
  if (!goal) return config.run.steps;
  for (const MetricsRow& row :
       read_valid_metrics(fs::path(config.run.directory) / "metrics.jsonl").rows) {
    if (row.step <= logged_step && goal->holds(row)) return std::min(row.step, config.run.steps);
  }
  return config.run.steps;
}

/// Returns the part of the run that begins at `start`: up to the first change of settings after
/// it, or up to the end of the run.
RunStart with_part(RunStart start, const TrainConfig& config) {
  start.last_step = end_of_run(config, std::max(start.step, start.logged_step));
  const std::vector<FormerConfig> former = former_configs(config.run.directory);
  const auto part = std::ranges::upper_bound(former, start.step, {}, &FormerConfig::last_step);
  if (part == former.end()) return start;
  start.last_step = std::min(part->last_step, start.last_step);
  start.settings = part->path;
  return start;
}

/// Determines where the run begins, and prepares its files for the part that begins there. `run`
/// was checked with the settings of `config`.
PreparedRun with_start(const TrainConfig& config, PreparedRun run) {
  const fs::path directory = config.run.directory;
  RunStart start = start_of(config, valid_checkpoint);
  const std::int64_t last = recover_log(directory / "trajectories", start.step, Log("learner", 0));
  start.logged_step = std::min(last, config.run.steps);
  start = with_part(early_enough(std::move(start), config), config);
  const TrainConfig settings = settings_of(config, start);
  if (!start.settings.empty()) run = check_inputs(settings);
  set_start(run, std::move(start));
  // With first_groups, a later step may still use a journaled group of these steps.
  const bool takes_first = config.tickets.takes_first_groups();
  Journal(directory).remove_up_to(last - (takes_first ? config.tickets.max_staleness : 0));
  report_losses(settings, run.start.step);
  return run;
}

/// With run.resume changed: keeps the settings that differ from those of `config` as those of the
/// logged steps, and sets aside the groups of the unfinished steps, which were scored with them. A
/// kill at any moment leaves the run with the old settings until config.yaml is replaced.
void keep_former_settings(TrainConfig config) {
  const fs::path directory = config.run.directory;
  if (config.run.resume != Resume::kChanged || !fs::exists(directory / "config.yaml")) return;
  const std::string differences = differences_text(directory, fields_of(config));
  if (differences.empty()) return;
  const Log log("learner", 0);
  const std::int64_t step = start_of(config, valid_checkpoint).step;
  const std::int64_t last = recover_log(directory / "trajectories", step, log);
  if (last > 0) keep_former_config(directory, last);
  log.info("the settings change after step {}: {}", last, differences);
  if (!fs::exists(directory / "journal")) return;
  const fs::path aside = set_aside(directory / "journal", fmt::format(".step-{:06}", last));
  log.warn(
      "the groups of step {} so far were generated with the old settings: they are now in {}, "
      "and the step begins again",
      last + 1, aside.string());
}

}  // namespace

PreparedRun prepare_run(Job& job, const TrainConfig& config, std::string_view command) {
  check_free_directory(config);
  PreparedRun run = check_inputs(config);
  set_failed_start_aside(config);
  const fs::path directory = config.run.directory;
  make_directories(directory);
  become_writer(job, directory, command);
  // Check again under the lock: another process may have created a run there in the meantime.
  check_directory(config);
  keep_former_settings(config);
  // The config comes first, because files without a config do not count as a run.
  TrainConfig resolved = config;
  write_run_config(directory, fields_of(resolved));
  make_directories(directory / "trajectories");
  make_directories(directory / "checkpoints");
  return with_start(config, std::move(run));
}

PreparedRun prepare_next_part(const TrainConfig& config) {
  return with_start(config, check_inputs(config));
}

TrainConfig settings_of(const TrainConfig& config, const RunStart& start) {
  if (start.settings.empty()) return config;
  TrainConfig settings = load_train_config(start.settings, {});
  TrainConfig now = config;
  copy_what_changes_no_result(fields_of(settings), fields_of(now));
  return settings;
}

PreparedRun plan_run(const TrainConfig& config) {
  check_free_directory(config);
  PreparedRun run = check_inputs(config);
  try_programs(config, run.prompts.training.front());
  check_unlocked(config.run.directory);
  set_start(run, with_part(start_of(config, find_valid_checkpoint), config));
  run.start.logged_step = run.start.step;
  return run;
}

bool is_finished(const RunStart& start) { return start.step >= start.last_step; }

std::int64_t steps_of_epochs(const TrainConfig& config) {
  const std::int64_t rows =
      std::ssize(read_run_prompts(config.data.train_file, config.data, config.model.path).prompts);
  const std::int64_t size = config.tickets.prompts_per_step;
  const std::int64_t steps = (config.run.epochs * rows + size - 1) / size;
  Log("learner", 0)
      .info("run.epochs {}: {} of {}, {} a step, are {}", config.run.epochs,
            counted(rows, "prompt"), config.data.train_file, size, counted(steps, "step"));
  return steps;
}

EarlyStop early_stop(const Job& job, const TrainConfig& config) {
  note_stop_signals();
  return EarlyStop([&job] { return job.stop_signal(); },
                   seconds_left(config.run.time_limit_minutes));
}

RunStart share_start(const RunStart& start, Collective& world) {
  std::vector<std::uint8_t> bytes = nlohmann::json::to_msgpack(start);
  broadcast_values(world, bytes);
  return nlohmann::json::from_msgpack(bytes).get<RunStart>();
}

}  // namespace lie
