#include "tools/replay/replayed_steps.h"

#include <cstddef>
#include <utility>

#include "common/process/log.h"

namespace lie::replay {
namespace {

/// Makes a logged step the step `step` of the new run.
void renumber(StepGroups& found, std::int64_t step) {
  found.step = step;
  found.dropped.clear();
  for (ScoredGroup& group : found.groups) {
    group.rollout.ticket.step = step;
    group.rollout.ticket.policy_version = step - 1;
    for (Response& response : group.rollout.responses) response.versions.clear();
  }
}

}  // namespace

ReplayedSteps::ReplayedSteps(const ReplayTask& task, const Scorers& scorers, bool compares,
                             OwnSteps own, TextOfResponse text, EarlyStop& stop)
    : task_(task),
      scorers_(scorers),
      compares_(compares),
      own_(own),
      text_(std::move(text)),
      stop_(stop) {}

std::optional<StepGroups> ReplayedSteps::receive() {
  const std::int64_t step = own_.step + 1;
  if (step > task_.config.run.steps || !stop_.may_begin(step)) return std::nullopt;
  stop_.has_groups();
  own_.step = step;
  if (step > own_.logged_step) return replayed(step);
  StepGroups own = read_logged_step(own_.log, step, text_, task_.is_whole);
  if (task_.is_whole) restore_tickets(own, own_.prompts, task_.config.tickets);
  return own;
}

StepGroups ReplayedSteps::replayed(std::int64_t step) {
  const auto [run, logged] = task_.steps[static_cast<std::size_t>(step - task_.first_step - 1)];
  StepGroups found = read_logged_step(task_.runs[run].log, logged, text_, task_.is_whole);
  found.is_logged = false;
  found.evaluation.clear();
  if (!compares_) found.logged_results.clear();
  task_.is_whole ? restore_tickets(found, own_.prompts, task_.config.tickets)
                 : renumber(found, step);
  if (scorers_[run]) scorers_[run]->score_again(found);
  if (task_.is_whole || keep_selected(found.groups, task_.groups)) return found;
  Log("learner", 0)
      .warn(
          "step {}, which is step {} of {}, has no group of --groups {}: all its groups are "
          "learned",
          step, logged, task_.runs[run].directory.string(), task_.config.run.replay.groups);
  return found;
}

}  // namespace lie::replay
