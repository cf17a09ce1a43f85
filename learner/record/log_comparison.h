// Steps learned again must come out with the bits that are in the log.
#pragma once

#include "learner/step_recorders.h"

namespace lie {

/// On learner 0. Says once from which step on advantages or learner log-probs differ from the
/// logged ones, where a step has any, and what that means.
class LogComparison : public StepRecorder {
 public:
  void record(StepOutcome& step) override;
  bool differs() const { return differs_; }

 private:
  bool differs_ = false;  // and that was said
};

}  // namespace lie
