// The stages that every step's outcome passes through.
#pragma once

#include <utility>
#include <vector>

#include "common/base/stream.h"
#include "learner/step.h"

namespace lie {

/// One stage. It sees what earlier ones added: an evaluation, seconds.
class StepStage {
 public:
  virtual ~StepStage() = default;
  virtual void take(StepOutcome& step) = 0;
  /// The run is over, or ends early; what is behind the last step must be kept.
  virtual void close() {}
};

/// Passes every outcome through the stages in their order. They outlive the chain.
class StepChain : public Sink<StepOutcome> {
 public:
  explicit StepChain(std::vector<StepStage*> stages) : stages_(std::move(stages)) {}

  void send(StepOutcome step) override {
    for (StepStage* stage : stages_) stage->take(step);
  }
  void close() override {
    for (StepStage* stage : stages_) stage->close();
  }

 private:
  std::vector<StepStage*> stages_;
};

}  // namespace lie
