// The stages that every step's outcome passes through.
#pragma once

#include <utility>
#include <vector>

#include "common/base/stream.h"
#include "learner/step.h"

namespace lie {

/// One stage. It sees what earlier ones added: an evaluation, seconds.
class StepRecorder {
 public:
  virtual ~StepRecorder() = default;
  virtual void take(StepOutcome& step) = 0;
  /// The run is over, or ends early; what is behind the last step must be kept.
  virtual void close() {}
};

/// Passes every outcome through the stages in their order. They outlive the chain.
class StepRecorders : public Sink<StepOutcome> {
 public:
  explicit StepRecorders(std::vector<StepRecorder*> stages) : stages_(std::move(stages)) {}

  void send(StepOutcome step) override {
    for (StepRecorder* stage : stages_) stage->take(step);
  }
  void close() override {
    for (StepRecorder* stage : stages_) stage->close();
  }

 private:
  std::vector<StepRecorder*> stages_;
};

}  // namespace lie
