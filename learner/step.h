// A training step as the learner sees it: its groups in, its outcome out.
#pragma once

#include <cstdint>
#include <vector>

#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"
#include "learner/update/advantage.h"
#include "learner/update/update.h"

namespace lie {

/// A learner's input, the same on every learner.
struct StepGroups {
  std::int64_t step = 0;  // from 1
  /// In canonical order: ascending in ticket.step, which may be another
  /// (learner/schedule/first_groups.h), and ticket.group.
  std::vector<ScoredGroup> groups = {};
  /// Groups of the step that are not trained on (learner/schedule/dynamic_sampling.h); on learner
  /// 0.
  std::vector<ScoredGroup> dropped = {};
  std::int64_t wanted_groups = 0;  // that dynamic sampling looks for; 0 without; on learner 0
  /// The step was recorded by an earlier start, and is learned again. With it, on learner 0 only:
  bool is_logged = false;
  std::vector<ScoredGroup> evaluation = {};                     // of the policy after the step
  std::vector<std::vector<LearnerResult>> logged_results = {};  // [groups][G]
};

/// Where a step's time went on this rank.
struct StepSeconds {
  double generate = 0;  // waiting for the step's groups
  double update = 0;
  double publish = 0, evaluate = 0;
  double log = 0;  // delay caused by the trajectory log
  double all() const { return generate + update + publish + evaluate + log; }
};

/// The outcome of a step. Step 0 is the start policy: not trained, perhaps evaluated.
struct StepOutcome {
  std::int64_t step = 0;
  std::vector<ScoredGroup> groups = {};          // trained on
  std::vector<ScoredGroup> dropped = {};         // as in StepGroups
  std::int64_t wanted_groups = 0;                // as in StepGroups
  std::vector<GroupAdvantages> advantages = {};  // of the groups
  StepUpdate update = {};
  std::vector<ScoredGroup> evaluation = {};  // of the policy after the step; on learner 0
  StepSeconds seconds = {};
  bool is_logged = false;                                       // as in StepGroups
  std::vector<std::vector<LearnerResult>> logged_results = {};  // as in StepGroups
};

}  // namespace lie
