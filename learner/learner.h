// The learner's role: collect a step's groups, make advantages, update, publish, record.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/comm/collective.h"
#include "learner/advantage.h"
#include "learner/coordinator.h"
#include "learner/role_clocks.h"
#include "learner/run_coverage.h"
#include "learner/run_recorder.h"
#include "learner/step_metrics.h"
#include "learner/update.h"
#include "model/weights.h"

namespace lie {

struct LearnerOptions {
  AdvantageOptions advantage;
  RewardNames rewards;
  std::int64_t last_step = 0;         // of the run
  std::int64_t checkpoint_every = 0;  // steps; the last step always ends in a checkpoint
};

/// What learner 0 has besides: it coordinates, publishes and keeps the run's curves.
struct Leadership {
  Coordinator& coordinator;
  Collective& weight_group;  // learner 0 and the actors
  RunCoverage& coverage;
  CurveRecorder& curves;
};

/// What a learner works with. Everything must outlive the learner.
struct LearnerParts {
  Weights& weights;
  PolicyUpdater& updater;
  Collective& learners;
  TrajectoryRecorder& trajectories;
  /// Writes the checkpoint behind `step`; called on learner 0.
  std::function<void(std::int64_t step)> write_checkpoint;
  Leadership* leadership = nullptr;  // learner 0 only
};

/// Runs the steps after `first_step` to the last. Collective over the learners. Blocks.
class Learner {
 public:
  Learner(const LearnerOptions& options, const LearnerParts& parts, std::int64_t first_step);
  void run();

 private:
  struct Step;
  void evaluate_start();
  void run_step(std::int64_t step);
  void collect(Step& step);
  void update(Step& step);
  void publish(std::int64_t policy_version);
  void evaluate(Step& step);
  void record(Step& step);
  void record_trajectories(Step& step);
  std::vector<std::string> numbers_so_far(const Step& step);
  void record_curves(const Step& step);
  void checkpoint(std::int64_t step);

  LearnerOptions options_;
  LearnerParts parts_;
  std::int64_t first_step_;
  std::set<std::string> numbers_;  // names of the further numbers so far
  RoleClocks clocks_;
};

}  // namespace lie
