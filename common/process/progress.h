// The one progress line of a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "common/process/live_line.h"

namespace lie {

/// What the line shows of one finished step.
struct StepProgress {
  std::int64_t step = 0;   // from 1
  std::int64_t steps = 0;  // of the run
  double accuracy = 0, reward_mean = 0;
  double response_length_mean = 0;  // tokens
  double truncated_share = 0;       // of responses, cut at the limit
  double c_context_mean = 0;        // distinct n-grams
  double tokens_per_second = 0, step_seconds = 0;
};

/// What the line shows while a step's groups, or those of the evaluation behind it, come in.
struct GroupsProgress {
  std::int64_t step = 0, steps = 0;
  bool is_evaluation = false;
  std::int64_t groups = 0, all_groups = 0;
  std::int64_t tokens = 0;  // of the responses that came in; 0: the wait begins
};

/// What the line of an evaluation after a step shows; step 0 is the start policy.
struct EvaluationProgress {
  std::int64_t step = 0, steps = 0;
  double accuracy = 0, response_length_mean = 0, c_context_mean = 0;
};

/// "step  12/100 | accuracy 0.532 | length 34.1 (2% cut) | reward -0.047 | C_context 28.3 |
/// 12345 tokens/s | 1:23 left"
std::string progress_text(const StepProgress& progress, double seconds_left);

/// "step  13/100 | 17/32 groups | 12345 tokens/s"
std::string progress_text(const GroupsProgress& progress, double tokens_per_second);

/// "step  12/100 | evaluation: accuracy 0.561 | length 31.0 | C_context 26.4"
std::string progress_text(const EvaluationProgress& progress);

/// "1:23" or "2:01:23"
std::string duration_text(double seconds);

/// Prints one line a step: rewritten in place on a terminal, within the step, too; plain lines
/// elsewhere.
class ProgressLine {
 public:
  /// Does not own `out`.
  explicit ProgressLine(std::FILE* out);

  /// Time left is the mean of this run's steps so far times the steps to come.
  void show(const StepProgress& progress);

  /// On a terminal only, and at most ten times a second: the groups, then the step before.
  void show(const GroupsProgress& progress);

  /// Prints a line that stays.
  void show(const EvaluationProgress& progress);

  /// Leaves the last line standing.
  void finish() { line_.finish(); }

 private:
  double seconds_left() const;

  LiveLine line_;
  double seconds_ = 0;
  std::int64_t steps_seen_ = 0;
  StepProgress last_;  // shown
  using Clock = std::chrono::steady_clock;
  Clock::time_point wait_began_, shown_at_;
};

}  // namespace lie
