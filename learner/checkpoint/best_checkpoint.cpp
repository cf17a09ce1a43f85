#include "learner/checkpoint/best_checkpoint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/config/config_history.h"
#include "common/config/name_hints.h"
#include "common/io/metrics_log.h"
#include "learner/checkpoint/checkpoint_directory.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

std::map<std::int64_t, double> values_of(const fs::path& metrics, const std::string& metric) {
  std::map<std::int64_t, double> values;
  for (const MetricsRow& row : read_metrics(metrics)) {
    for (const auto& [name, value] : row.values) {
      if (name == metric && std::isfinite(value)) values[row.step] = value;
    }
  }
  return values;
}

/// Returns whether evaluations before and after a change, "key: value, now other", measure another
/// thing: other prompts, or drawn otherwise.
bool is_of_evaluations(std::string_view change) {
  if (change.starts_with("evaluation.every:")) return false;
  return change.starts_with("evaluation.") || change.starts_with("data.evaluation_file:");
}

/// Returns the last step before a change of settings on which evaluations depend; 0: none.
std::int64_t last_change_of_evaluations(const fs::path& run_directory) {
  std::int64_t last = 0;
  for (const ConfigChange& change : config_changes(run_directory)) {
    if (std::ranges::any_of(change.values, is_of_evaluations)) {
      last = std::max(last, change.after_step);
    }
  }
  return last;
}

}  // namespace

void describe(FieldList& fields, BestCheckpointOptions& options) {
  fields.add(
      "keep_best", options.keep_best,
      {"A metric of evaluations, such as eval_accuracy: the checkpoint of the evaluated step "
       "with its greatest value is kept in addition to those of keep_last; of equal ones the "
       "earliest. If evaluations are changed at a resume, later ones replace it. Empty: none."});
}

void check_metric(std::string_view key, const std::string& metric,
                  std::span<const std::string> given) {
  if (metric.empty() || std::ranges::find(given, metric) != given.end()) return;
  if (given.empty()) {
    fail("{} is {}, but nothing is evaluated: set evaluation.every", key, metric);
  }
  const std::string hint = did_you_mean(metric, given);
  fail("{}: no evaluation gives {}{} Evaluations give {}", key, metric, hint.empty() ? ";" : hint,
       fmt::join(given, ", "));
}

std::optional<std::int64_t> best_saved_step(const fs::path& run_directory,
                                            const std::string& metric) {
  std::optional<std::int64_t> best;
  const std::map<std::int64_t, double> values = values_of(run_directory / kMetricsFile, metric);
  const std::int64_t comparable_after = last_change_of_evaluations(run_directory);
  for (const auto& [step, value] : values) {
    if (!fs::exists(checkpoint_path(run_directory / kCheckpoints, step))) continue;
    const bool is_of_others = best && *best <= comparable_after && step > comparable_after;
    if (!best || is_of_others || value > values.at(*best)) best = step;
  }
  return best;
}

}  // namespace lie
