// Sources of logged steps that a learner treats as generated now: all steps of one run, or chosen
// steps of one or more runs as the steps of a new run.
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

/// A source without steps: the end of a log.
class NoSteps : public Source<StepGroups> {
 public:
  std::optional<StepGroups> receive() override { return {}; }
};

/// Passes on logged steps as new ones, scored again by `scorer` (null: with the logged scores).
/// Evaluations are dropped, because they measure the other run's policy.
class ReplayedSteps : public Source<StepGroups> {
 public:
  /// Keeps references. With `compares` the logged results stay, which the learner's must equal.
  ReplayedSteps(Source<StepGroups>& logged, GroupScorer* scorer, bool compares)
      : logged_(logged), scorer_(scorer), compares_(compares) {}

  std::optional<StepGroups> receive() override;

 private:
  Source<StepGroups>& logged_;
  GroupScorer* scorer_;
  bool compares_;
};

/// The state of the new run.
struct OwnSteps {
  const StepLog& log;
  std::int64_t step = 0;         // of its checkpoint
  std::int64_t logged_step = 0;  // the last step that it has logged itself
};

/// The chosen steps of a task. Unlike those of a whole replay, they are not compared with the data
/// file.
class PlannedSteps : public Source<StepGroups> {
 public:
  /// Keeps references. `scorers` has one entry per run, null if the logged scores stay valid.
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
