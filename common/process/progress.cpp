#include "common/process/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace lie {
namespace {

std::string count_text(std::int64_t step, std::int64_t steps) {
  return fmt::format("step {:>{}}/{}", step, std::to_string(steps).size(), steps);
}

std::string result_text(const MetricsRow& row) {
  if (!row.find("accuracy")) return "no group with signal";
  const double cut = row.value_or_zero("truncation_rate");
  return fmt::format("accuracy {:.3f} | length {:.1f}{} | reward {:.3f} | C_context {:.1f}",
                     row.value_or_zero("accuracy"), row.value_or_zero("response_length_mean"),
                     cut >= 0.005 ? fmt::format(" ({:.0f}% cut)", 100 * cut) : "",
                     row.value_or_zero("reward_mean"), row.value_or_zero("c_context_mean"));
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds) + 0.5);
  const std::int64_t hours = whole / 3600;
  const std::int64_t minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string step_text(const MetricsRow& row, std::int64_t steps, double seconds_left) {
  return fmt::format("{} | {} | {:.0f} tokens/s | {} left", count_text(row.step, steps),
                     result_text(row), row.value_or_zero("tokens_per_second"),
                     duration_text(seconds_left));
}

std::string groups_text(const GroupsProgress& progress, std::int64_t steps,
                        double tokens_per_second) {
  return fmt::format(
      "{} | {}{}/{} groups{}", count_text(progress.step, steps),
      progress.is_evaluation ? "evaluation " : "", progress.groups, progress.all_groups,
      progress.tokens > 0 ? fmt::format(" | {:.0f} tokens/s", tokens_per_second) : "");
}

std::string evaluation_text(const MetricsRow& row, std::int64_t steps) {
  return fmt::format("{} | evaluation: accuracy {:.3f} | length {:.1f} | C_context {:.1f}",
                     count_text(row.step, steps), row.value_or_zero("eval_accuracy"),
                     row.value_or_zero("eval_response_length_mean"),
                     row.value_or_zero("eval_c_context_mean"));
}

void ProgressLine::show_step(const MetricsRow& row) {
  seconds_ += row.value_or_zero("step_seconds");
  ++steps_seen_;
  last_ = row;
  line_.show(step_text(row, steps_, seconds_left()));
}

/// Returns the estimated time from the end of the last shown step to the end of the run.
double ProgressLine::seconds_left() const {
  const double mean = seconds_ / static_cast<double>(steps_seen_);
  return mean * static_cast<double>(steps_ - last_.step);
}

void ProgressLine::show_groups(const GroupsProgress& progress) {
  if (!line_.is_rewritten()) return;
  if (progress.tokens == 0) waited_ = {};
  const bool is_last = progress.groups == progress.all_groups;
  const auto now = std::chrono::steady_clock::now();
  if (!is_last && now - shown_at_ < std::chrono::milliseconds(100)) return;
  shown_at_ = now;
  const double waited = waited_.seconds();
  std::string text = groups_text(progress, steps_, static_cast<double>(progress.tokens) / waited);
  if (steps_seen_ > 0) {
    text += fmt::format(" | step {}: {} | {} left", last_.step, result_text(last_),
                        duration_text(seconds_left() - waited));
  }
  line_.show(text);
}

void ProgressLine::show_evaluation(const MetricsRow& row) {
  if (steps_seen_ > 0) line_.finish();  // keep the last step's line
  line_.show(evaluation_text(row, steps_));
  line_.finish();
}

}  // namespace lie
