// The progress line of a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "common/process/terminal.h"

namespace lie {

/// The progress line's content after a step.
struct StepProgress {
  std::int64_t step = 0;   // from 1
  std::int64_t steps = 0;  // number of steps of the run
  double accuracy = 0, reward_mean = 0;
  double response_length_mean = 0;  // tokens
  double truncated_share = 0;       // share of responses that were cut at the limit
  double c_context_mean = 0;        // distinct n-grams
  double tokens_per_second = 0, step_seconds = 0;
};

/// The progress line's content while the groups of a step, or of the evaluation after it, arrive.
struct GroupsProgress {
  std::int64_t step = 0, steps = 0;
  bool is_evaluation = false;
  std::int64_t groups = 0, all_groups = 0;
  std::int64_t tokens = 0;  // tokens of the responses that have arrived; 0: the wait begins
};

/// The progress line's content after an evaluation. Step 0 is the initial policy.
struct EvaluationProgress {
  std::int64_t step = 0, steps = 0;
  double accuracy = 0, response_length_mean = 0, c_context_mean = 0;
};

/// Returns "step  12/100 | accuracy 0.532 | length 34.1 (2% cut) | reward -0.047 | C_context 28.3 |
/// 12345 tokens/s | 1:23 left".
std::string progress_text(const StepProgress& progress, double seconds_left);

/// Returns "step  13/100 | 17/32 groups | 12345 tokens/s".
std::string progress_text(const GroupsProgress& progress, double tokens_per_second);

/// Returns "step  12/100 | evaluation: accuracy 0.561 | length 31.0 | C_context 26.4".
std::string progress_text(const EvaluationProgress& progress);

/// Returns "1:23" or "2:01:23".
std::string duration_text(double seconds);

/// Prints one line per step. On a terminal the line is rewritten in place, also within a step.
class ProgressLine {
 public:
  /// Does not own `out`.
  explicit ProgressLine(std::FILE* out);

  /// Shows a finished step. The time left is the mean time of this run's steps so far, times the
  /// number of remaining steps.
  void show(const StepProgress& progress);

  /// Shows the groups and then the previous step. Prints on terminals only, and at most ten times
  /// per second except for the last group.
  void show(const GroupsProgress& progress);

  /// Prints an evaluation on a line of its own, which is not rewritten.
  void show(const EvaluationProgress& progress);

  /// Keeps the last line and starts a new one.
  void finish() { line_.finish(); }

 private:
  double seconds_left() const;

  LiveLine line_;
  double seconds_ = 0;
  std::int64_t steps_seen_ = 0;
  StepProgress last_;  // the step shown last
  using Clock = std::chrono::steady_clock;
  Clock::time_point wait_began_, shown_at_;
};

}  // namespace lie
