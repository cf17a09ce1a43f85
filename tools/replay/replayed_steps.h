// The source that passes the logged steps of a replay on to a learner, which treats them as
// generated now.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/stream.h"
#include "common/rollout/prompt_stream.h"
#include "common/trajectory/step_log.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/logged_steps.h"
#include "learner/step.h"
#include "tools/replay/group_scorer.h"
#include "tools/replay/replay_task.h"

namespace lie::replay {

/// The state of the new run. Everything outlives the source of its steps.
struct OwnSteps {
  const StepLog& log;
  PromptStream& prompts;
  std::int64_t step = 0;         // of its checkpoint
  std::int64_t logged_step = 0;  // the last step that it has logged itself
};

/// One scorer per run of a task; null if the logged scores stay valid.
using Scorers = std::vector<std::unique_ptr<GroupScorer>>;

/// The chosen steps of a task as the steps of a new run, after those that it has logged itself.
/// Evaluations are dropped, because they measure another run's policy. Only the steps of a whole
/// replay get the tickets of the data file again.
class ReplayedSteps : public Source<StepGroups> {
 public:
  /// Keeps references. With `compares` the logged results stay, which the learner's must equal.
  ReplayedSteps(const ReplayTask& task, const Scorers& scorers, bool compares, OwnSteps own,
                TextOfResponse text, EarlyStop& stop);

  std::optional<StepGroups> receive() override;

 private:
  StepGroups replayed(std::int64_t step);

  const ReplayTask& task_;
  const Scorers& scorers_;
  bool compares_;
  OwnSteps own_;
  TextOfResponse text_;
  EarlyStop& stop_;
};

}  // namespace lie::replay
