#include "common/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace lie {
namespace {

template <typename Progress>
std::string count_text(const Progress& progress) {
  return fmt::format("step {:>{}}/{}", progress.step, std::to_string(progress.steps).size(),
                     progress.steps);
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds) + 0.5);
  const std::int64_t hours = whole / 3600;
  const std::int64_t minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string progress_text(const StepProgress& progress, double seconds_left) {
  const double cut = progress.truncated_share;
  return fmt::format(
      "{} | accuracy {:.3f} | length {:.1f}{} | reward {:.3f} | C_context {:.1f} | {:.0f} tokens/s "
      "| "
      "{} left",
      count_text(progress), progress.accuracy, progress.response_length_mean,
      cut >= 0.005 ? fmt::format(" ({:.0f}% cut)", 100 * cut) : "", progress.reward_mean,
      progress.c_context_mean, progress.tokens_per_second, duration_text(seconds_left));
}

std::string progress_text(const EvaluationProgress& progress) {
  return fmt::format("{} | evaluation: accuracy {:.3f} | length {:.1f} | C_context {:.1f}",
                     count_text(progress), progress.accuracy, progress.response_length_mean,
                     progress.c_context_mean);
}

ProgressLine::ProgressLine(std::FILE* out) : line_(out) {}

void ProgressLine::show(const StepProgress& progress) {
  seconds_ += progress.step_seconds;
  ++steps_seen_;
  const double mean = seconds_ / static_cast<double>(steps_seen_);
  line_.show(progress_text(progress, mean * static_cast<double>(progress.steps - progress.step)));
}

void ProgressLine::show(const EvaluationProgress& progress) {
  line_.finish();
  line_.show(progress_text(progress));
  line_.finish();
}

}  // namespace lie
