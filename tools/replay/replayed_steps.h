// The steps of another run's log as if they were generated now.
#pragma once

#include <optional>

#include "common/stream.h"
#include "learner/step.h"
#include "tools/replay/group_scorer.h"

namespace lie::replay {

/// The end of what is logged.
class NoSteps : public Source<StepGroups> {
 public:
  std::optional<StepGroups> receive() override { return {}; }
};

/// Gives the groups of a step the scores that `scorer` finds.
void score_again(StepGroups& step, GroupScorer& scorer);

/// Passes on logged steps as new ones, scored again by `scorer` (null: with the logged scores).
/// Their evaluations are left out: those were of the other run's policy.
class ReplayedSteps : public Source<StepGroups> {
 public:
  /// Keeps references. `compares`: the learner's results must equal the logged ones, so these stay.
  ReplayedSteps(Source<StepGroups>& logged, GroupScorer* scorer, bool compares)
      : logged_(logged), scorer_(scorer), compares_(compares) {}

  std::optional<StepGroups> receive() override;

 private:
  Source<StepGroups>& logged_;
  GroupScorer* scorer_;
  bool compares_;
};

}  // namespace lie::replay
