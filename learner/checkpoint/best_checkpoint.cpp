#include "learner/checkpoint/best_checkpoint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/error.h"
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

}  // namespace

void describe(FieldList& fields, BestCheckpointOptions& options) {
  fields.add(
      "keep_best", options.keep_best,
      {"A metric of evaluations, such as eval_accuracy: the checkpoint of the evaluated step "
       "with its greatest value is kept in addition to those of keep_last; of equal ones the "
       "earliest. Empty: none."});
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
  const std::map<std::int64_t, double> values = values_of(run_directory / "metrics.jsonl", metric);
  for (const auto& [step, value] : values) {
    if (!fs::exists(checkpoint_path(run_directory / "checkpoints", step))) continue;
    if (!best || value > values.at(*best)) best = step;
  }
  return best;
}

}  // namespace lie
