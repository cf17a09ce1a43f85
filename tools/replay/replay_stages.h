// Step recorders that only a replay has.
#pragma once

#include <cstdint>

#include "learner/record/trajectory_recorder.h"
#include "learner/step_recorders.h"

namespace lie::replay {

/// Waits until the log of each step is written. This thread reads the next step from another log,
/// and only one thread at a time may use HDF5.
class WrittenLog : public StepRecorder {
 public:
  explicit WrittenLog(TrajectoryRecorder& trajectories) : trajectories_(trajectories) {}
  void record(StepOutcome&) override { trajectories_.wait(); }

 private:
  TrajectoryRecorder& trajectories_;
};

/// Warns once when the effective sample share of a step falls below a bound.
class OffPolicyWarning : public StepRecorder {
 public:
  explicit OffPolicyWarning(double bound) : bound_(bound) {}
  void record(StepOutcome& step) override;

  /// The least effective sample share of the steps so far, and the step that had it.
  double least_share() const { return least_; }
  std::int64_t least_step() const { return least_step_; }

 private:
  double bound_, least_ = 1;
  std::int64_t least_step_ = 0;
  bool warned_ = false;
};

}  // namespace lie::replay
