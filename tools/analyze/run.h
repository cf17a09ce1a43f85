// A run directory as the report sees it: curves over steps, settings, and the responses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/trajectory/run_reader.h"

namespace lie::analyze {

/// Step to value.
using Curve = std::map<std::int64_t, double>;

/// The values of one reward term, [N]; NaN where the log has none.
struct RewardColumn : RewardName {
  std::vector<float> values;
};

/// The values of a further number of a reward or verifier program, as RewardColumn.
struct NumberColumn {
  std::string name;
  std::vector<double> values;
};

/// The columns of /sample that the report uses, [N] in canonical order.
struct SampleColumns {
  std::vector<std::uint8_t> purpose, finish_reason, verdict;
  std::vector<std::int64_t> step, problem, distinct_ngrams, ngrams;
  std::vector<std::int32_t> tokens, largest_repeat;
  std::vector<float> reward, advantage;
  std::vector<RewardColumn> rewards;  // the terms, in the order of their sum
  std::vector<NumberColumn> numbers;
  std::vector<double> target_length;
  std::size_t size() const { return step.size(); }
  bool is_training(std::size_t i) const { return purpose[i] == 0; }
};

struct Run {
  std::string name;
  std::filesystem::path directory;
  std::map<std::string, Curve> curves;                        // by the names of metrics.jsonl
  std::vector<std::pair<std::string, std::string>> settings;  // config.yaml, full keys
  std::optional<RunReader> trajectories;
  SampleColumns samples;
  std::map<std::int64_t, std::int64_t> train_count, eval_count;  // responses by step
  std::optional<std::filesystem::path> checkpoint;               // the last one
  std::int64_t last_step = 0;
  double begun = 0;                // its first metrics, seconds since the epoch; 0: unknown
  std::string state;               // "finished: 40 of 40 steps"
  std::vector<std::string> notes;  // what is missing or odd, in plain words
};

/// Throws Error if there is no such directory, or it holds nothing of a run.
void require_a_run(const std::filesystem::path& directory);

/// Reads what exists; what is missing becomes a note. Throws Error as require_a_run() does, or if a
/// file in it is damaged.
Run load_run(const std::filesystem::path& directory);

/// As load_run(), without the trajectories: curves, settings and state.
Run load_curves_of(const std::filesystem::path& directory);

/// One line of a comparison: a run, or several seeds of the same settings.
struct Subject {
  std::string name;
  std::vector<Run> runs;
};

/// The reward terms of all runs: those of their trajectories, then those that only their metrics
/// have.
RewardNames reward_names(std::span<const Subject> subjects);

/// Names of the programs' further numbers of all runs' trajectories, ascending.
std::set<std::string> number_names(std::span<const Subject> subjects);

/// The data sources of all runs' evaluations as their metrics name them, ascending; empty where
/// each has one.
std::set<std::string> evaluation_sources(std::span<const Subject> subjects);

/// The metric of one source's accuracy.
std::string source_accuracy(const std::string& source);

/// The curve of a metric; empty if the run has none.
Curve curve_of(const Run& run, const std::string& metric);

/// The value of a setting, or empty.
std::string setting_of(const Run& run, const std::string& key);

}  // namespace lie::analyze
