#include "tools/analyze/curves.h"

#include <algorithm>
#include <ranges>

#include "common/base/arithmetic.h"

namespace lie::analyze {

std::vector<VerdictLine> verdict_lines() {
  std::vector<VerdictLine> lines;
  for (std::uint8_t code = 0; code < kVerdictCount; ++code) {
    std::string words = verdict_word(code);
    const std::string metric = "verdict_" + words + "_share";
    std::ranges::replace(words, '_', ' ');
    lines.push_back({metric, std::move(words)});
  }
  return lines;
}

std::string verdict_word(std::uint8_t code) {
  if (code > static_cast<std::uint8_t>(kLastVerdict)) return "unknown";
  return std::string(name(static_cast<VerdictCode>(code)));
}

namespace {

bool is_accuracy(const std::string& metric) {
  return metric == "accuracy" || metric == "generated_accuracy" || metric == "eval_accuracy";
}

/// Returns whether sample i is one of the responses that `accuracy` is the mean over.
bool counts_in(const std::string& accuracy, const SampleColumns& samples, std::size_t i) {
  if (accuracy == "eval_accuracy") return !samples.is_training(i);
  return samples.is_training(i) && (accuracy != "accuracy" || samples.mini_batch[i] >= 0);
}

/// Correct and all responses to the prompts of a step, by prompt.
using Tallies = std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>>;

/// Returns the tallies of an accuracy by step; empty for other metrics.
std::map<std::int64_t, Tallies> tallies_of(const Run& run, const std::string& metric) {
  std::map<std::int64_t, Tallies> steps;
  if (!is_accuracy(metric)) return steps;
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    if (!counts_in(metric, run.samples, i)) continue;
    auto& [correct, all] = steps[run.samples.step[i]][run.samples.prompt[i]];
    correct += run.samples.verdict[i] == 0 ? 1 : 0;
    ++all;
  }
  return steps;
}

/// Returns the value with the interval of the prompts of these steps, each of equal weight. Without
/// all their responses it has no interval.
Estimate over_prompts(double value, const std::map<std::int64_t, Tallies>& tallies,
                      std::span<const std::int64_t> steps) {
  std::map<std::int64_t, PromptShare> prompts;
  for (const std::int64_t step : steps) {
    const auto found = tallies.find(step);
    if (found == tallies.end()) return {value, value, value};
    double responses = 0;
    for (const auto& [prompt, tally] : found->second)
      responses += static_cast<double>(tally.second);
    responses *= static_cast<double>(steps.size());
    for (const auto& [prompt, tally] : found->second) {
      PromptShare& own = prompts[prompt];
      own.correct += static_cast<double>(tally.first) / responses;
      own.weight += static_cast<double>(tally.second) / responses;
      own.responses += tally.second;
    }
  }
  std::vector<PromptShare> shares;
  for (const auto& [prompt, share] : prompts) shares.push_back(share);
  const Estimate interval = share_over_prompts(shares);
  return {value, interval.low, interval.high};
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
  const auto tallies = tallies_of(run, metric);
  for (const auto& [step, value] : curve_of(run, metric)) {
    points.push_back({step, over_prompts(value, tallies, std::span(&step, 1))});
  }
  return points;
}

/// Returns the mean over the first or the last steps of the curve.
Estimate over_window(const Run& run, const std::string& metric, std::size_t window, bool at_end) {
  const Curve& curve = curve_of(run, metric);
  const std::size_t skipped = at_end ? curve.size() - window : 0;
  std::vector<double> values;
  std::vector<std::int64_t> steps;
  for (const auto& [step, value] : curve | std::views::drop(skipped) | std::views::take(window)) {
    steps.push_back(step);
    values.push_back(value);
  }
  return over_prompts(mean_of(values), tallies_of(run, metric), steps);
}

Estimate over_runs(const Subject& subject, const std::string& metric, std::size_t window,
                   bool at_end) {
  if (subject.runs.size() == 1) return over_window(subject.runs.front(), metric, window, at_end);
  std::vector<double> means;
  for (const Run& run : subject.runs) {
    means.push_back(over_window(run, metric, window, at_end).value);
  }
  return over_seeds(means, metric);
}

}  // namespace

bool is_share(std::string_view metric) {
  return metric.ends_with("_share") ||
         begins_with_one_of(metric, {"accuracy", "correct_at_", "r_context", "truncation_rate",
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
