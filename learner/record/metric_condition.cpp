#include "learner/record/metric_condition.h"

#include <sstream>

#include "common/base/error.h"

namespace lie {
bool MetricCondition::holds(const MetricsRow& row) const {
  const std::optional<double> value = row.find(metric);
  return row.step > 0 && value && is_met_by(*value);
}

std::optional<MetricCondition> parse_metric_condition(const std::string& text) {
  if (text.empty()) return {};
  MetricCondition condition{.text = text, .metric = {}};
  std::istringstream words(text);
  std::string comparison, more;
  words >> condition.metric >> comparison >> condition.bound;
  condition.is_upper_bound = comparison == "<=";
  if (words && !(words >> more) && (condition.is_upper_bound || comparison == ">=")) {
    return condition;
  }
  fail(
      "run.stop_when: found \"{}\", expected a metric of evaluations, >= or <=, and a number, with "
      "spaces between them: \"eval_accuracy >= 0.8\"",
      text);
}

}  // namespace lie
