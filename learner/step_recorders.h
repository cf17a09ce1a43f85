// Recorders keep what becomes of a step: trajectory log, metrics, checkpoint.
#pragma once

#include <utility>
#include <vector>

#include "learner/step.h"

namespace lie {

/// Keeps something of every step.
class StepRecorder {
 public:
  virtual ~StepRecorder() = default;
  /// Records a step. May add to step.seconds.
  virtual void record(StepOutcome& step) = 0;
  /// Is called after the last step, also of a run that stops early. Returns when everything that
  /// was recorded is kept.
  virtual void close() {}
};

/// Passes every step to several recorders in their order. The recorders outlive it.
class StepRecorders : public StepRecorder {
 public:
  explicit StepRecorders(std::vector<StepRecorder*> recorders) : recorders_(std::move(recorders)) {}

  void add(StepRecorder& recorder) { recorders_.push_back(&recorder); }

  void record(StepOutcome& step) override {
    for (StepRecorder* recorder : recorders_) recorder->record(step);
  }
  void close() override {
    for (StepRecorder* recorder : recorders_) recorder->close();
  }

 private:
  std::vector<StepRecorder*> recorders_;
};

}  // namespace lie
