#include "common/process/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace lie {
namespace {

template <typename Progress>
std::string count_text(const Progress& progress) {
  return fmt::format("step {:>{}}/{}", progress.step, std::to_string(progress.steps).size(),
                     progress.steps);
}

std::string result_text(const StepProgress& progress) {
  const double cut = progress.truncated_share;
  return fmt::format("accuracy {:.3f} | length {:.1f}{} | reward {:.3f} | C_context {:.1f}",
                     progress.accuracy, progress.response_length_mean,
                     cut >= 0.005 ? fmt::format(" ({:.0f}% cut)", 100 * cut) : "",
                     progress.reward_mean, progress.c_context_mean);
}

double seconds_of(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
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
  return fmt::format("{} | {} | {:.0f} tokens/s | {} left", count_text(progress),
                     result_text(progress), progress.tokens_per_second,
                     duration_text(seconds_left));
}

std::string progress_text(const GroupsProgress& progress, double tokens_per_second) {
  return fmt::format(
      "{} | {}{}/{} groups{}", count_text(progress), progress.is_evaluation ? "evaluation " : "",
      progress.groups, progress.all_groups,
      progress.tokens > 0 ? fmt::format(" | {:.0f} tokens/s", tokens_per_second) : "");
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
  last_ = progress;
  line_.show(progress_text(progress, seconds_left()));
}

/// Returns the estimated time from the end of the last shown step to the end of the run.
double ProgressLine::seconds_left() const {
  const double mean = seconds_ / static_cast<double>(steps_seen_);
  return mean * static_cast<double>(last_.steps - last_.step);
}

void ProgressLine::show(const GroupsProgress& progress) {
  if (!line_.is_rewritten()) return;
  const Clock::time_point now = Clock::now();
  if (progress.tokens == 0) wait_began_ = now;
  const bool is_last = progress.groups == progress.all_groups;
  if (!is_last && now - shown_at_ < std::chrono::milliseconds(100)) return;
  shown_at_ = now;
  const double waited = seconds_of(now - wait_began_);
  std::string text = progress_text(progress, static_cast<double>(progress.tokens) / waited);
  if (steps_seen_ > 0) {
    text += fmt::format(" | step {}: {} | {} left", last_.step, result_text(last_),
                        duration_text(seconds_left() - waited));
  }
  line_.show(text);
}

void ProgressLine::show(const EvaluationProgress& progress) {
  if (steps_seen_ > 0) line_.finish();  // keep the last step's line
  line_.show(progress_text(progress));
  line_.finish();
}

}  // namespace lie
