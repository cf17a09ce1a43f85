// The steps of other runs' logs as if they were generated now: those of one whole run, or chosen
// ones of one or more as the steps of a new run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/stream.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/logged_steps.h"
#include "learner/step.h"
#include "tools/replay/group_scorer.h"
#include "tools/replay/replay_task.h"

namespace lie::replay {

/// The end of what is logged.
class NoSteps : public Source<StepGroups> {
 public:
  std::optional<StepGroups> receive() override { return {}; }
};

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

/// Where the new run stands.
struct OwnSteps {
  const StepLog& log;
  std::int64_t step = 0;         // of its checkpoint
  std::int64_t logged_step = 0;  // up to here it has logged them itself
};

/// Unlike a whole replay's, the steps are not compared with what the data file gives.
class PlannedSteps : public Source<StepGroups> {
 public:
  /// Keeps references. `scorers`: a run's, or null where its logged scores hold.
  PlannedSteps(const ReplayTask& task, std::vector<GroupScorer*> scorers, OwnSteps own,
               TextOfResponse text, EarlyStop& stop);

  std::optional<StepGroups> receive() override;

 private:
  StepGroups replayed(std::int64_t step);

  const ReplayTask& task_;
  std::vector<GroupScorer*> scorers_;
  OwnSteps own_;
  TextOfResponse text_;
  EarlyStop& stop_;
};

}  // namespace lie::replay
