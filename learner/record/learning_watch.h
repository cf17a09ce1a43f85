// Detects runs that cannot learn: from step to step the rewards or the weights do not change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/io/metrics_log.h"

namespace lie {

/// Watches the metrics of the steps for conditions under which training is in vain, and warns once
/// for each with its likely cause and the key to change.
class LearningWatch {
 public:
  /// Receives the metrics of the steps in order. Returns the warnings of this step: after the first
  /// skipped update, and after five steps in a row in which all responses are cut, all groups are
  /// without advantages, or the gradient is 0. Throws Error if all updates of three steps in a row
  /// were skipped, because their gradients were not finite.
  std::vector<std::string> after(const MetricsRow& row);

 private:
  /// Consecutive steps with a condition.
  struct Streak {
    std::int64_t steps = 0;
    /// Returns whether the condition has just held for `wanted` steps, the first time in this run.
    bool reaches(std::int64_t wanted, bool holds);
    bool reached = false;
  };

  void watch_updates(const MetricsRow& row, std::vector<std::string>& warnings);

  bool has_skipped_ = false;
  Streak skipped_, cut_, without_signal_, without_gradient_;
};

}  // namespace lie
