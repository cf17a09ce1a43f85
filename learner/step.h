// A training step as the learner sees it: its groups in, its outcome out.
#pragma once

#include <cstdint>
#include <vector>

#include "common/rollout.h"
#include "learner/advantage.h"
#include "learner/update.h"

namespace lie {

/// What a learner is fed, the same on every learner.
struct StepGroups {
  std::int64_t step = 0;            // from 1
  std::vector<ScoredGroup> groups;  // in canonical order: ascending ticket.group
};

/// Where a step's time went on this rank.
struct StepSeconds {
  double generate = 0;  // waiting for the step's groups
  double update = 0;
  double publish = 0, evaluate = 0;
  double log = 0;  // that the trajectory log held the step up
  double all() const { return generate + update + publish + evaluate + log; }
};

/// What became of a step. Step 0 is the policy to begin with: nothing was trained, and it may be
/// evaluated.
struct StepOutcome {
  std::int64_t step = 0;
  std::vector<ScoredGroup> groups = {};          // trained on
  std::vector<GroupAdvantages> advantages = {};  // of the groups
  StepUpdate update = {};
  std::vector<ScoredGroup> evaluation = {};  // of the policy behind the step; on learner 0
  StepSeconds seconds = {};
};

}  // namespace lie
