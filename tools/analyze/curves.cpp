#include "tools/analyze/curves.h"

#include <algorithm>

namespace lie::analyze {
namespace {

/// Returns the number of responses of a step's value if the metric is a share of responses, else 0.
std::int64_t trials(const Run& run, const std::string& metric, std::int64_t step) {
  const auto& counts = metric == "eval_accuracy" ? run.eval_count : run.train_count;
  if (metric != "accuracy" && metric != "eval_accuracy") return 0;
  const auto found = counts.find(step);
  return found == counts.end() ? 0 : found->second;
}

bool begins_with_one_of(std::string_view metric, std::initializer_list<const char*> beginnings) {
  if (metric.starts_with("eval_")) metric.remove_prefix(5);
  return std::ranges::any_of(beginnings, [&](const char* b) { return metric.starts_with(b); });
}

bool is_never_negative(std::string_view metric) {
  return is_share(metric) || metric.ends_with("_seconds") ||
         begins_with_one_of(metric, {"response_length", "c_context", "c_global", "entropy",
                                     "grad_norm", "tokens_per_second"});
}

/// Returns the mean with a t interval, cut to the range of the quantity.
Estimate over_seeds(std::span<const double> values, std::string_view metric) {
  Estimate estimate = mean_interval(values);
  if (is_never_negative(metric)) estimate.low = std::max(estimate.low, 0.0);
  if (is_share(metric)) estimate.high = std::min(estimate.high, 1.0);
  return estimate;
}

std::vector<CurvePoint> single_curve(const Run& run, const std::string& metric) {
  std::vector<CurvePoint> points;
  for (const auto& [step, value] : curve_of(run, metric)) {
    points.push_back({step, wilson(value, trials(run, metric, step))});
  }
  return points;
}

struct Window {
  double mean = 0;
  std::int64_t trials = 0;
};

Window mean_of_window(const Run& run, const std::string& metric, std::size_t window, bool at_end) {
  const Curve curve = curve_of(run, metric);
  std::vector<double> values;
  Window result;
  auto take = [&](const auto& point) {
    values.push_back(point.second);
    result.trials += trials(run, metric, point.first);
  };
  const auto skip = static_cast<std::ptrdiff_t>(curve.size() - window);
  if (at_end) {
    std::for_each(std::next(curve.begin(), skip), curve.end(), take);
  } else {
    std::for_each(curve.begin(), std::prev(curve.end(), skip), take);
  }
  result.mean = mean(values);
  return result;
}

Estimate over_runs(const Subject& subject, const std::string& metric, std::size_t window,
                   bool at_end) {
  std::vector<double> means;
  Window last;
  for (const Run& run : subject.runs) {
    last = mean_of_window(run, metric, window, at_end);
    means.push_back(last.mean);
  }
  return means.size() > 1 ? over_seeds(means, metric) : wilson(last.mean, last.trials);
}

}  // namespace

bool is_share(std::string_view metric) {
  return metric.ends_with("_share") ||
         begins_with_one_of(metric, {"accuracy", "right_at_", "r_context", "truncation_rate",
                                     "clip_fraction", "idle_share"});
}

std::size_t window_of(std::size_t count) { return std::max<std::size_t>(1, (count + 5) / 10); }

std::vector<CurvePoint> subject_curve(const Subject& subject, const std::string& metric) {
  if (subject.runs.size() == 1) return single_curve(subject.runs.front(), metric);
  std::map<std::int64_t, std::vector<double>> by_step;
  for (const Run& run : subject.runs) {
    for (const auto& [step, value] : curve_of(run, metric)) by_step[step].push_back(value);
  }
  std::vector<CurvePoint> points;
  for (const auto& [step, values] : by_step) {
    if (values.size() == subject.runs.size()) points.push_back({step, over_seeds(values, metric)});
  }
  return points;
}

StartAndEnd start_and_end(const Subject& subject, const std::string& metric) {
  std::size_t steps = subject.runs.empty() ? 0 : curve_of(subject.runs.front(), metric).size();
  for (const Run& run : subject.runs) steps = std::min(steps, curve_of(run, metric).size());
  if (steps == 0) return {};
  // Evaluations are few, so each is a window of its own.
  const std::size_t window = metric.starts_with("eval_") ? 1 : window_of(steps);
  return {true, over_runs(subject, metric, window, false), over_runs(subject, metric, window, true),
          window};
}

}  // namespace lie::analyze
