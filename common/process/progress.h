// The progress line of a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "common/base/clock.h"
#include "common/io/metrics_log.h"
#include "common/process/terminal.h"

namespace lie {

/// The progress line's content while the groups of a step, or of the evaluation after it, arrive.
struct GroupsProgress {
  std::int64_t step = 0;
  bool is_evaluation = false;
  std::int64_t groups = 0, all_groups = 0;
  /// Tokens of the responses that have arrived, except those from the journal. 0: the wait begins.
  std::int64_t tokens = 0;
};

/// Returns the line of a step's metrics: "step  12/100 | accuracy 0.532 | length 34.1 (2% cut) |
/// reward -0.047 | C_context 28.3 | 12345 tokens/s | 1:23 left".
std::string step_text(const MetricsRow& row, std::int64_t steps, double seconds_left);

/// Returns "step  13/100 | 17/32 groups | 12345 tokens/s".
std::string groups_text(const GroupsProgress& progress, std::int64_t steps,
                        double tokens_per_second);

/// Returns the line of an evaluation, from the metrics of its step: "step  12/100 | evaluation:
/// accuracy 0.561 | length 31.0 | C_context 26.4". Step 0 is the initial policy.
std::string evaluation_text(const MetricsRow& row, std::int64_t steps);

/// Returns "1:23" or "2:01:23".
std::string duration_text(double seconds);

/// Prints one line per step. On a terminal the line is rewritten in place, also within a step.
class ProgressLine {
 public:
  /// Does not own `out`. The run has `steps` steps.
  ProgressLine(std::FILE* out, std::int64_t steps) : line_(out), steps_(steps) {}

  /// Shows a finished step. The time left is the mean time of this run's steps so far, times the
  /// number of remaining steps.
  void show_step(const MetricsRow& row);

  /// Shows the groups and then the previous step. Prints on terminals only, and at most ten times
  /// per second except for the last group.
  void show_groups(const GroupsProgress& progress);

  /// Prints an evaluation on a line of its own, which is not rewritten.
  void show_evaluation(const MetricsRow& row);

  /// Keeps the last line and starts a new one.
  void finish() { line_.finish(); }

 private:
  double seconds_left() const;

  LiveLine line_;
  std::int64_t steps_;
  double seconds_ = 0;
  std::int64_t steps_seen_ = 0;
  MetricsRow last_;   // of the step shown last
  Stopwatch waited_;  // for the groups of a step
  std::chrono::steady_clock::time_point shown_at_;
};

}  // namespace lie
