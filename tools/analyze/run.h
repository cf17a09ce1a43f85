// A run directory as the report reads it: curves over steps, settings and responses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/config_history.h"
#include "common/process/start_record.h"
#include "common/trajectory/run_reader.h"

namespace lie::analyze {

/// Step to value.
using Curve = std::map<std::int64_t, double>;

/// The values of one reward term, [N]; NaN if the log has none.
struct RewardColumn : RewardName {
  std::vector<float> values;
};

/// The values of a further number of a reward or verifier program, [N]; NaN if the log has none.
struct NumberColumn {
  std::string name;
  std::vector<double> values;
};

/// The columns of /sample that the report uses, [N] in canonical order.
struct SampleColumns {
  std::vector<std::uint8_t> purpose, finish_reason, verdict;
  std::vector<std::int64_t> step, problem, distinct_ngrams;
  /// `problem`, but in evaluations the number of the first row with equal source, text and gold.
  std::vector<std::int64_t> prompt;
  std::vector<std::int32_t> mini_batch;  // -1: no update used the response
  std::vector<std::int32_t> tokens, largest_repeat;
  std::vector<float> reward, advantage;
  std::vector<RewardColumn> rewards;  // the terms, in the order in which they are summed
  std::vector<NumberColumn> numbers;
  std::vector<double> target_length;
  std::size_t size() const { return step.size(); }
  bool is_training(std::size_t i) const { return purpose[i] == 0; }
};

struct Run {
  std::string name;
  std::filesystem::path directory;
  std::map<std::string, Curve> curves;                        // by the names in metrics.jsonl
  std::vector<std::pair<std::string, std::string>> settings;  // config.yaml, full keys
  std::vector<ConfigChange> changes;                          // of the settings, by step
  std::optional<RunReader> trajectories;
  SampleColumns samples;
  std::map<std::int64_t, std::int64_t> train_count, eval_count;  // number of responses by step
  std::optional<std::filesystem::path> checkpoint;               // the last checkpoint
  std::int64_t last_step = 0;
  double begun = 0;       // time of its first metrics, seconds since the epoch; 0: unknown
  double last_write = 0;  // time of its last metrics; 0: unknown
  Curve seconds;          // duration of each step, that of step 0 included
  std::vector<StartRecord> starts;
  bool is_live = false;            // a process holds the directory, as far as this host can tell
  std::string state;               // "finished: 40 of 40 steps"
  std::vector<std::string> notes;  // about what is missing or unusual
};

/// Throws Error if there is no such directory, or if it holds no file of a run.
void require_a_run(const std::filesystem::path& directory);

/// Reads what exists and notes what is missing. Throws Error as require_a_run() does, or if a file
/// is damaged.
Run load_run(const std::filesystem::path& directory);

/// One line of a comparison: a run, or several seeds with the same settings.
struct Subject {
  std::string name;
  std::vector<Run> runs;
};

/// Returns the names of the metrics of all runs, ascending.
std::set<std::string> metric_names(std::span<const Subject> subjects);

/// Returns the reward terms of all runs: first the terms of their trajectories, then terms that
/// only their metrics have.
RewardNames reward_names(std::span<const Subject> subjects);

/// Returns the names of the programs' further numbers in all runs' trajectories, ascending.
std::set<std::string> number_names(std::span<const Subject> subjects);

/// Returns the data sources of all runs' evaluations as named by their metrics, ascending. Empty if
/// each run evaluates only one source.
std::set<std::string> evaluation_sources(std::span<const Subject> subjects);

/// Returns the name of the metric of one source's accuracy.
std::string source_accuracy(const std::string& source);

/// Returns the curve of a metric; empty if the run has none.
const Curve& curve_of(const Run& run, const std::string& metric);

/// Returns the value of a setting, or "" if it is unknown. Runs of earlier versions may have it by
/// `former_key`.
std::string setting_of(const Run& run, const std::string& key, const std::string& former_key = "");

/// Returns the n of coverage.metric_ngrams of all runs, ascending.
std::set<std::int64_t> metric_ngrams(std::span<const Subject> subjects);

/// Returns whether `name`, a further number of responses, is one of coverage.metric_ngrams, such as
/// "c_context_10".
bool is_coverage_number(std::string_view name);

/// Returns for each estimated metric "c_global_run is an estimate from step 120 on (standard error
/// 0.20 %)".
std::vector<std::string> estimate_notes(const std::map<std::string, Curve>& curves);

}  // namespace lie::analyze
