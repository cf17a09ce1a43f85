// A condition on a metric of evaluations, with which a run ends (run.stop_when).
#pragma once

#include <optional>
#include <string>

#include "common/io/metrics_log.h"

namespace lie {

/// A condition on a metric of evaluations: "eval_accuracy >= 0.8".
struct MetricCondition {
  std::string text, metric;
  bool is_upper_bound = false;  // "<=" rather than ">="
  double bound = 0;

  bool is_met_by(double value) const { return is_upper_bound ? value <= bound : value >= bound; }
  /// Returns whether a training step was evaluated and meets the condition.
  bool holds(const MetricsRow& row) const;
};

/// Returns the condition; empty for an empty text. Throws Error with the expected form.
std::optional<MetricCondition> parse_metric_condition(const std::string& text);

}  // namespace lie
