// Compares steps that are learned again with the trajectory log.
#pragma once

#include "learner/step.h"

namespace lie {

/// Checks that steps that are learned again from the log give bit-identical results. Compares
/// advantages and learner log-probs with the logged ones, for steps that have any. Warns
/// at the first step that differs, and only once. Runs on learner 0.
class LogComparison : public StepRecorder {
 public:
  void record(StepOutcome& step) override;
  /// Returns whether any step so far differed.
  bool differs() const { return differs_; }

 private:
  bool differs_ = false;  // a step differed, and the warning was issued
};

}  // namespace lie
