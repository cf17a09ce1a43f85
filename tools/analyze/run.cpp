#include "tools/analyze/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/metrics_log.h"
#include "common/process/writer_lock.h"
#include "common/text/counted.h"
#include "common/text/scan.h"
#include "learner/advantage/advantages.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/record/evaluation_metrics.h"
#include "learner/record/metric_condition.h"
#include "learner/record/metrics_repair.h"

namespace lie::analyze {

namespace {

namespace fs = std::filesystem;

void load_settings(Run& run) {
  const fs::path path = run.directory / kConfigFile;
  if (fs::exists(path)) {
    run.settings = config_values(path);
    run.changes = config_changes(run.directory);
  } else {
    run.notes.push_back("config.yaml is missing: no settings to compare");
  }
}

void load_samples(const RunReader& run, SampleColumns& s) {
  namespace c = schema::sample;
  std::vector<RunReader::Reading> readings = {
      run.into(s.purpose, c::kPurpose),      run.into(s.finish_reason, c::kFinishReason),
      run.into(s.verdict, c::kVerdict),      run.into(s.step, c::kStep),
      run.into(s.problem, c::kProblem),      run.into(s.distinct_ngrams, c::kDistinctNgrams),
      run.into(s.tokens, c::kTokenCount),    run.into(s.largest_repeat, c::kLargestRepeat),
      run.into(s.mini_batch, c::kMiniBatch), run.into(s.reward, c::kReward),
      run.into(s.advantage, c::kAdvantage),  run.into(s.target_length, c::kTargetLength),
  };
  for (const RewardName& term : run.rewards()) s.rewards.push_back({term, {}});
  for (const std::string& name : run.numbers()) s.numbers.push_back({name, {}});
  for (RewardColumn& term : s.rewards) {
    readings.push_back(run.into(term.values, schema::reward_column(term.name)));
  }
  for (NumberColumn& number : s.numbers) {
    readings.push_back(run.into(number.values, schema::number_column(number.name)));
  }
  run.read(readings);
}

/// Returns SampleColumns::prompt. A change of the settings may exchange the rows of evaluations, so
/// rows are compared only between changes.
std::vector<std::int64_t> prompts_of(const Run& run) {
  const SampleColumns& s = run.samples;
  std::vector<std::int64_t> prompts = s.problem;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> prompt_of;  // by changes and row
  std::map<std::tuple<std::int64_t, std::string, std::string, std::string>, std::int64_t> first_of;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s.is_training(i)) continue;
    const std::int64_t changes = changes_before(run.changes, s.step[i]);
    const auto [own, is_new] = prompt_of.try_emplace({changes, s.problem[i]}, s.problem[i]);
    if (is_new) {
      const ProblemText row = run.trajectories->problem(i);
      const auto key = std::make_tuple(changes, row.data_source, row.text, row.gold);
      own->second = first_of.try_emplace(key, s.problem[i]).first->second;
    }
    prompts[i] = own->second;
  }
  return prompts;
}

void load_trajectories(Run& run) {
  run.trajectories.emplace(run.directory / kTrajectories);
  load_samples(*run.trajectories, run.samples);
  run.samples.prompt = prompts_of(run);
  for (const std::string& note : run.trajectories->notes()) run.notes.push_back(note);
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    ++(run.samples.is_training(i) ? run.train_count : run.eval_count)[run.samples.step[i]];
  }
  const bool samples =  // fine-tuning does not
      run.settings.empty() || !setting_of(run, "rollout.prompts_per_step").empty();
  if (samples && run.trajectories->segments().empty()) {
    run.notes.push_back("no trajectories: single responses are not shown");
  }
}

/// Returns the run's options; those that its settings lack have their defaults.
AdvantageOptions advantage_options(const Run& run) {
  AdvantageOptions options;
  FieldList fields;
  fields.section("advantage", options);
  for (const auto& [key, value] : run.settings) {  // also by former names
    const Field* field = fields.find(key);
    if (field != nullptr && !value.empty()) field->set({value});
  }
  set_reward_terms(options, run.trajectories->rewards());
  return options;
}

void load_curves(Run& run) {
  MetricsFile file = read_valid_metrics(run.directory / kMetricsFile);
  for (const std::string& damage : file.damage) run.notes.push_back(damage);
  if (file.rows.empty()) {
    run.notes.push_back("metrics.jsonl is missing or empty: curves are made from the trajectories");
    const StepLog& log = run.trajectories->log();
    file.rows =
        rows_from_log(log, log.steps(), advantage_options(run), config_changes(run.directory));
  }
  for (const MetricsRow& row : file.rows) {
    run.last_step = std::max(run.last_step, row.step);
    if (run.begun == 0) run.begun = row.wall_time;
    run.last_write = std::max(run.last_write, row.wall_time);
    if (const auto seconds = row.find("step_seconds"); seconds && std::isfinite(*seconds)) {
      run.seconds[row.step] = *seconds;
    }
    for (const auto& [name, value] : row.values) {
      // Step 0 only evaluates, so its other values are not those of a training step.
      if (row.step == 0 && !name.starts_with("eval_")) continue;
      if (std::isfinite(value)) run.curves[name][row.step] = value;
    }
  }
}

/// Returns whether a process writes to the directory, or may do so on another host.
bool is_written(const fs::path& directory) {
  try {
    check_unlocked(directory);
  } catch (const HeldError&) {
    return true;
  } catch (const TransientError&) {
    return true;
  } catch (const Error&) {
    return false;  // the lock cannot be read
  }
  return false;
}

void load_starts(Run& run) {
  StartsFile file = read_starts(run.directory);
  run.starts = std::move(file.starts);
  for (std::string& damage : file.damage) run.notes.push_back(std::move(damage));
  for (const std::string& warning : file.warnings) run.notes.push_back("warned: " + warning);
  run.is_live = is_written(run.directory);
}

std::optional<std::int64_t> planned_steps(const Run& run) {
  const auto steps = number_in_name(setting_of(run, "run.steps", "sft.steps"), "");
  return steps && *steps > 0 ? steps : std::nullopt;
}

std::string describe_state(const Run& run) {
  if (are_of_evaluation(run.settings)) return "evaluation";
  const auto planned = planned_steps(run);
  if (!planned) return counted(run.last_step, "step");
  if (run.last_step >= *planned) return "finished: " + counted(*planned, "step");
  const auto goal = parse_metric_condition(setting_of(run, "run.stop_when"));
  if (goal) {
    const Curve& reached = curve_of(run, goal->metric);
    const auto end = reached.find(run.last_step);
    if (end != reached.end() && goal->is_met_by(end->second)) {
      return fmt::format("finished: step {} of {}, {}", run.last_step, *planned, goal->text);
    }
  }
  if (run.last_step == 0)
    return fmt::format("at its start: no step of {} is complete yet", *planned);
  return fmt::format("step {} of {}: {}", run.last_step, *planned,
                     run.is_live ? "in progress" : "stopped and resumable");
}

void add_if_new(RewardNames& names, RewardName name) {
  if (std::ranges::find(names, name.name, &RewardName::name) != names.end()) return;
  names.push_back(std::move(name));
}

/// Returns <term> for the metric reward_<term>_mean; empty for other metrics.
std::string term_of(std::string_view metric) {
  constexpr std::string_view kBegin = "reward_", kEnd = "_mean";
  const std::size_t around = kBegin.size() + kEnd.size();
  if (metric.size() <= around || !metric.starts_with(kBegin) || !metric.ends_with(kEnd)) return "";
  return std::string(metric.substr(kBegin.size(), metric.size() - around));
}

std::string name_of(const fs::path& directory) {
  const fs::path path = fs::weakly_canonical(directory);
  return path.filename().string();
}

}  // namespace

void require_a_run(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    fail("{}: {}; give the run.directory of a training run", directory.string(),
         fs::exists(directory) ? "is not a directory" : "no such directory");
  }
  for (const char* part : {kConfigFile, kMetricsFile, kTrajectories}) {
    if (fs::exists(directory / part)) return;
  }
  fail(
      "{}: holds neither config.yaml nor metrics.jsonl nor trajectories/; give the run.directory "
      "of a training run",
      directory.string());
}

Run load_run(const fs::path& directory) {
  require_a_run(directory);
  Run run;
  run.directory = directory;
  run.name = name_of(directory);
  load_settings(run);
  for (const ConfigChange& change : run.changes) {
    run.notes.push_back(fmt::format("settings changed after step {}: {}", change.after_step,
                                    fmt::join(change.values, "; ")));
  }
  load_starts(run);
  load_trajectories(run);
  load_curves(run);
  for (std::string& note : estimate_notes(run.curves)) run.notes.push_back(std::move(note));
  run.checkpoint = latest_checkpoint(directory / kCheckpoints);
  run.state = describe_state(run);
  return run;
}

std::set<std::string> metric_names(std::span<const Subject> subjects) {
  std::set<std::string> names;
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      for (const auto& [metric, curve] : run.curves) names.insert(metric);
    }
  }
  return names;
}

RewardNames reward_names(std::span<const Subject> subjects) {
  RewardNames names;
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      for (const RewardColumn& term : run.samples.rewards) add_if_new(names, term);
    }
  }
  for (const std::string& metric : metric_names(subjects)) {
    const std::string term = term_of(metric);
    if (!term.empty()) add_if_new(names, {term, term});
  }
  return names;
}

std::set<std::string> number_names(std::span<const Subject> subjects) {
  std::set<std::string> names;
  for (const Subject& subject : subjects) {
    for (const Run& run : subject.runs) {
      for (const NumberColumn& number : run.samples.numbers) {
        if (!is_coverage_number(number.name)) names.insert(number.name);
      }
    }
  }
  return names;
}

std::set<std::string> evaluation_sources(std::span<const Subject> subjects) {
  const std::string begin = source_accuracy("");
  std::set<std::string> sources;
  for (const std::string& metric : metric_names(subjects)) {
    if (metric.starts_with(begin)) sources.insert(metric.substr(begin.size()));
  }
  return sources;
}

std::string source_accuracy(const std::string& source) {
  return fmt::format("eval_accuracy{}{}", kOnSource, source);
}

const Curve& curve_of(const Run& run, const std::string& metric) {
  static const Curve kNone;
  const auto found = run.curves.find(metric);
  return found == run.curves.end() ? kNone : found->second;
}

std::string setting_of(const Run& run, const std::string& key, const std::string& former_key) {
  for (const auto& [name, value] : run.settings) {
    if (name == key) return value;
  }
  return former_key.empty() ? "" : setting_of(run, former_key);
}

std::set<std::int64_t> metric_ngrams(std::span<const Subject> subjects) {
  std::set<std::int64_t> all;
  for (const std::string& metric : metric_names(subjects)) {
    if (const auto n = number_in_name(metric, "c_context_", "_mean")) all.insert(*n);
  }
  return all;
}

bool is_coverage_number(std::string_view name) {
  return number_in_name(name, "c_context_") || number_in_name(name, "r_context_");
}

std::vector<std::string> estimate_notes(const std::map<std::string, Curve>& curves) {
  std::vector<std::string> notes;
  for (const auto& [metric, curve] : curves) {
    constexpr std::string_view kError = "_error";
    if (!metric.starts_with("c_global") || !metric.ends_with(kError) || curve.empty()) continue;
    notes.push_back(fmt::format("{} is an estimate from step {} on (standard error {:.2f} %)",
                                metric.substr(0, metric.size() - kError.size()),
                                curve.begin()->first, 100 * curve.begin()->second));
  }
  return notes;
}

}  // namespace lie::analyze
