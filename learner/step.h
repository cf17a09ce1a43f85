// A training step as it passes through the learner: its groups, the results computed from them, and
// the recorders that store both.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"
#include "learner/advantage/advantage.h"
#include "learner/update/update.h"

namespace lie {

/// The groups of a step. Number and groups are the same on every learner.
struct StepGroups {
  std::int64_t step = 0;  // from 1
  /// The groups to train on, ascending in ticket.step and ticket.group. ticket.step may be another
  /// step's (learner/schedule/first_groups.h).
  std::vector<ScoredGroup> groups = {};
  /// On learner 0: groups that are not trained on (learner/schedule/dynamic_sampling.h).
  std::vector<ScoredGroup> dropped = {};
  /// On learner 0: how many groups dynamic sampling looks for; 0 without dynamic sampling.
  std::int64_t wanted_groups = 0;
  /// Whether an earlier start has logged the step, which is then learned again from the log.
  bool is_logged = false;
  /// On learner 0: groups that evaluate the policy after the step. For a logged step, from the log.
  std::vector<ScoredGroup> evaluation = {};
  /// On learner 0: the learner's results in the log, for a logged step.
  std::vector<std::vector<LearnerResult>> logged_results = {};  // [groups][G]
};

/// The seconds that a step took on this rank.
struct StepSeconds {
  double generate = 0;  // spent waiting for the step's groups
  double update = 0;
  double publish = 0, evaluate = 0;
  double log = 0;  // delay caused by the trajectory log
  double all() const { return generate + update + publish + evaluate + log; }
};

/// A step and what the learner computed from it. Step 0 is the start policy, which is not trained
/// but may be evaluated.
struct StepOutcome : StepGroups {
  std::vector<GroupAdvantages> advantages = {};  // [groups]
  StepUpdate update = {};
  StepSeconds seconds = {};
};

/// Records a part of every step's outcome.
class StepRecorder {
 public:
  virtual ~StepRecorder() = default;
  /// Records a step. May add to step.seconds.
  virtual void record(StepOutcome& step) = 0;
  /// Called after the last step, including that of a run that stops early. Returns when everything
  /// that was recorded is stored.
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
