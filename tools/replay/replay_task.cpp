#include "tools/replay/replay_task.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/config/name_hints.h"
#include "common/config/number_text.h"
#include "common/process/log.h"
#include "common/text/counted.h"
#include "common/text/scan.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/checkpoint/saved_checkpoints.h"
#include "learner/checkpoint/trainer_state.h"
#include "learner/schedule/dynamic_sampling.h"
#include "tools/run/start/resume.h"

namespace lie::replay {

GroupSelection parse_group_selection(const std::string& text) {
  if (text == "all") return {};
  if (text == "mixed") return {.only_mixed = true, .numbers = {}};
  const std::vector<std::string> names = {"all", "mixed"};
  const bool is_name = !text.empty() && is_letter(text[0]);
  if (is_name) fail("--groups {}: give all, mixed or a range{}", text, did_you_mean(text, names));
  return {.numbers = parse_number_range("--groups", text)};
}

bool keep_selected(std::vector<ScoredGroup>& groups, const GroupSelection& selection) {
  const auto is_left_out = [&](const ScoredGroup& group) {
    return !selection.numbers.contains(group.rollout.ticket.group) ||
           (selection.only_mixed && !has_signal(group));
  };
  if (std::ranges::all_of(groups, is_left_out)) return false;
  std::erase_if(groups, is_left_out);
  return true;
}

namespace {

namespace fs = std::filesystem;

/// Keys that change where files are, how far the replay goes and what it keeps.
const auto kElse = {"run.steps",
                    "run.time_limit_minutes",
                    "run.collective_time_limit_minutes",
                    "model.path",
                    "model.device",
                    "model.threads",
                    "data.train_file",
                    "checkpoint",
                    "trajectories",
                    "roles.keep_binding"};
/// Keys that must be equal in all runs, because their responses depend on them.
const auto kShared = {"rollout.temperature", "rollout.top_p", "rollout.top_k",
                      "rollout.max_response_tokens"};

void check_keys(const LoggedRun& run) {
  for (const std::string& key : changed_keys(run)) {
    if (is_in(kScoring, key) || is_in(kLearning, key) || is_in(kElse, key)) continue;
    fail(
        "--set {}: the logged responses were made with the run's value; lie_replay train changes "
        "reward.*, verifier.*, coverage.*, advantage.*, policy_loss.*, update.*, optimizer.*, {}",
        key, fmt::join(kElse, ", "));
  }
}

void check_goes_with(const LoggedRun& run, const LoggedRun& first) {
  const std::string both = run.directory.string() + " and " + first.directory.string();
  const TrajectoryInfo &here = run.log.info(), &there = first.log.info();
  if (here.model_sha256 != there.model_sha256) {
    fail("{} began with other weights (SHA-256 {} and {}): they cannot be replayed together", both,
         here.model_sha256, there.model_sha256);
  }
  if (here.tokenizer_sha256 != there.tokenizer_sha256) {
    fail("{} have other tokenizers (SHA-256 {} and {}): they cannot be replayed together", both,
         here.tokenizer_sha256, there.tokenizer_sha256);
  }
  for (const std::string& key : changed_keys(run)) {
    if (is_in(kShared, key)) fail("{} differ in {}: no single policy sampled both", both, key);
  }
}

/// Returns the first step that is replayed, if the log holds it.
std::int64_t first_replayed(const TrainArguments& arguments) {
  if (!arguments.steps.empty()) return parse_number_range("--steps", arguments.steps).first;
  const fs::path& checkpoint = arguments.from_checkpoint;
  return 1 + (checkpoint.empty() ? 0 : load_trainer_state(checkpoint).step);
}

std::vector<LoggedRun> load_runs(const TrainArguments& arguments) {
  const std::int64_t step = first_replayed(arguments);
  std::set<fs::path> directories;
  for (const fs::path& run : arguments.runs) {
    if (directories.insert(fs::weakly_canonical(run)).second) continue;
    fail("{} is named twice, and its groups would be learned twice; name it once", run.string());
  }
  std::vector<LoggedRun> runs;
  runs.push_back(load_logged_run(arguments.runs.front(), arguments.overrides, step));
  check_keys(runs.front());
  for (std::size_t i = 1; i < arguments.runs.size(); ++i) {
    runs.push_back(load_logged_run(arguments.runs[i], {}, step));
    runs.back().now = runs.front().now;
    check_goes_with(runs.back(), runs.front());
  }
  return runs;
}

std::int64_t step_of_checkpoint(const fs::path& checkpoint, const LoggedRun& run) {
  if (checkpoint.empty()) return 0;
  const TrainerState state = load_trainer_state(checkpoint);
  const auto faults = checkpoint_faults(checkpoint);
  if (!faults.empty())
    fail("--from-checkpoint {}: {}", checkpoint.string(), fmt::join(faults, "; "));
  if (state.seed != run.log.info().seed) {
    fail("--from-checkpoint {} is of a run with seed {}, not of {}, which has seed {}",
         checkpoint.string(), state.seed, run.directory.string(), run.log.info().seed);
  }
  const fs::path owner = fs::weakly_canonical(checkpoint).parent_path().parent_path();
  if (owner == fs::weakly_canonical(run.directory) || !fs::exists(owner / kConfigFile)) {
    return state.step;
  }
  TrainConfig logged = run.logged;
  const std::string differences = differences_text(owner, fields_of(logged));
  if (differences.empty()) return state.step;
  fail("--from-checkpoint {} is of a run of another config than {} ({})", checkpoint.string(),
       run.directory.string(), differences);
}

[[noreturn]] void fail_without_next(const LoggedRun& run, std::int64_t after) {
  const std::vector<std::int64_t> steps = run.log.steps();
  fail(
      "{}: its log lacks step {}, the one after the {}, and begins with step {}; --steps chooses "
      "other steps, --from-checkpoint begins later",
      run.directory.string(), after + 1, after > 0 ? "checkpoint" : "start model",
      *std::ranges::find_if(steps, [](auto step) { return step > 0; }));
}

/// Throws Error if the log holds steps of the range on both sides of one that it lacks.
void check_no_gap(const LoggedRun& run, NumberRange range) {
  std::int64_t before = 0;  // the former step of the range; 0: none
  for (const std::int64_t step : run.log.steps()) {
    if (step == 0 || !range.contains(step)) continue;
    if (before > 0 && step > before + 1) {
      fail(
          "{}: its log lacks {}, but holds later ones: restore the file in trajectories/, or "
          "replay the steps before with --steps {}-{} or those after with --steps {}-",
          run.directory.string(), numbered("step", before + 1, step - 1),
          std::max<std::int64_t>(range.first, 1), before, step);
    }
    before = step;
  }
}

/// Throws Error if the settings changed within the range.
void check_same_settings(const LoggedRun& run, NumberRange range, std::int64_t after) {
  for (const std::int64_t step : run.log.steps()) {
    if (step <= run.last_step || !range.contains(step)) continue;
    fail(
        "{}: its settings changed after step {}: replay the steps up to it with --steps {}-{}, or "
        "those after it with --from-checkpoint {}",
        run.directory.string(), run.last_step, after + 1, run.last_step,
        checkpoint_path(run.directory / kCheckpoints, run.last_step).string());
  }
}

/// Adds the steps of one run: the requested ones, or all after step `after`.
void add_steps(const LoggedRun& run, std::size_t number, const std::string& asked,
               std::int64_t after, std::vector<LoggedStep>& steps) {
  NumberRange range = {.first = after + 1};
  if (asked.empty() && !run.log.holds(after + 1)) fail_without_next(run, after);
  if (!asked.empty()) range = parse_number_range("--steps", asked);
  check_no_gap(run, range);
  check_same_settings(run, range, after);
  for (const std::int64_t step : run.log.steps()) {
    if (step > 0 && range.contains(step)) steps.push_back({number, step});
  }
  const bool is_open = range.last == NumberRange().last;
  if (const std::int64_t last = run.log.steps().back(); !is_open && last < range.last) {
    Log("learner", 0)
        .warn("--steps {}: the log of {} ends with step {}", asked, run.directory.string(), last);
  }
}

std::vector<LoggedStep> chosen_steps(const std::vector<LoggedRun>& runs,
                                     const TrainArguments& arguments, std::int64_t after) {
  std::vector<LoggedStep> steps;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    add_steps(runs[i], i, arguments.steps, after, steps);
  }
  if (steps.empty()) {
    fail("--steps {}: {} has the steps {} to {}", arguments.steps, runs.front().directory.string(),
         std::max<std::int64_t>(runs.front().log.steps().front(), 1),
         runs.front().log.steps().back());
  }
  std::ranges::stable_sort(steps, {}, &LoggedStep::step);
  return steps;
}

/// Returns the last step of the new run. Throws Error if more are requested than there are.
std::int64_t last_step(const ReplayTask& task, const TrainArguments& arguments) {
  const std::int64_t last = task.first_step + std::ssize(task.steps);
  const bool is_asked = std::ranges::any_of(
      arguments.overrides, [](const std::string& set) { return set.starts_with("run.steps="); });
  const std::int64_t asked = task.runs.front().now.run.steps;
  if (!is_asked) return last;
  if (asked > last || asked <= task.first_step) {
    fail("--set run.steps={}: the log of {} has the steps {} to {}", asked,
         task.runs.front().directory.string(), task.first_step + 1, last);
  }
  return asked;
}

/// Returns the config of the new run. It evaluates nothing, because an evaluation generates.
TrainConfig replay_config(const ReplayTask& task, const TrainArguments& arguments) {
  TrainConfig config = task.runs.front().now;
  config.run.directory = arguments.directory.string();
  config.run.replay.of.clear();
  for (const fs::path& run : arguments.runs) {
    config.run.replay.of.push_back(fs::canonical(run).string());
  }
  config.run.replay.steps = arguments.steps;
  config.run.replay.groups = arguments.groups == "all" ? "" : arguments.groups;
  const fs::path& from = arguments.from_checkpoint;
  config.run.replay.from = from.empty() ? "" : fs::canonical(from).string();
  config.run.resume = Resume::kAuto;
  config.run.steps = last_step(task, arguments);
  config.evaluation.every = 0;
  config.run.stop_when.clear();
  config.data.evaluation_file.clear();
  config.best_checkpoint.keep_best.clear();
  return config;
}

/// Returns whether the run's steps follow the order of its data file.
bool follows_data(const RunOptions& run) {
  return run.replay.of.size() <= 1 && run.replay.steps.empty() && run.replay.groups.empty();
}

bool is_whole(const ReplayTask& task, const TrainArguments& arguments) {
  return task.runs.size() == 1 && arguments.groups == "all" &&
         follows_data(task.runs.front().logged.run) &&
         task.steps.front().step == task.first_step + 1 &&
         task.steps.back().step == task.first_step + std::ssize(task.steps);
}

}  // namespace

bool changes_any(const LoggedRun& run, std::initializer_list<const char*> sections) {
  return std::ranges::any_of(changed_keys(run),
                             [&](const std::string& key) { return is_in(sections, key); });
}

ReplayTask load_task(const TrainArguments& arguments) {
  ReplayTask task;
  task.groups = parse_group_selection(arguments.groups);
  task.runs = load_runs(arguments);
  task.first_step = step_of_checkpoint(arguments.from_checkpoint, task.runs.front());
  task.steps = chosen_steps(task.runs, arguments, task.first_step);
  task.is_whole = is_whole(task, arguments);
  task.config = replay_config(task, arguments);
  if (arguments.run_programs && !task.is_whole) {
    fail(
        "--programs: programs receive the row of the data file, which only a replay of all steps "
        "of one run has; drop it, or --steps, --groups and the other runs");
  }
  return task;
}

}  // namespace lie::replay
