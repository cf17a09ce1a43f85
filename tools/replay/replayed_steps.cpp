#include "tools/replay/replayed_steps.h"

#include <cstddef>
#include <utility>

#include "common/process/log.h"

namespace lie::replay {

namespace {

void score_again(StepGroups& step, GroupScorer& scorer) {
  std::vector<const ScoredGroup*> asked;
  for (const auto* groups : {&step.groups, &step.dropped}) {
    for (const ScoredGroup& group : *groups) asked.push_back(&group);
  }
  auto scores = scorer.score(asked);
  auto next = scores.begin();
  for (auto* groups : {&step.groups, &step.dropped}) {
    for (ScoredGroup& group : *groups) group.scores = std::move(*next++);
  }
}

}  // namespace

std::optional<StepGroups> ReplayedSteps::receive() {
  std::optional<StepGroups> step = logged_.receive();
  if (!step) return {};
  step->is_logged = false;
  step->evaluation.clear();
  if (!compares_) step->logged_results.clear();
  if (scorer_ != nullptr) score_again(*step, *scorer_);
  return step;
}

PlannedSteps::PlannedSteps(const ReplayTask& task, std::vector<GroupScorer*> scorers, OwnSteps own,
                           TextOfResponse text, EarlyStop& stop)
    : task_(task), scorers_(std::move(scorers)), own_(own), text_(std::move(text)), stop_(stop) {}

std::optional<StepGroups> PlannedSteps::receive() {
  const std::int64_t step = own_.step + 1;
  if (step > task_.config.run.steps || !stop_.may_begin(step)) return std::nullopt;
  stop_.has_groups();
  own_.step = step;
  return step <= own_.logged_step ? read_logged_step(own_.log, step, text_) : replayed(step);
}

StepGroups PlannedSteps::replayed(std::int64_t step) {
  const auto [run, logged] = task_.steps[static_cast<std::size_t>(step - task_.first_step - 1)];
  StepGroups found{.step = step};
  found.groups = read_logged_step(task_.runs[run].log, logged, text_).groups;
  for (ScoredGroup& group : found.groups) {
    group.rollout.ticket.step = step;
    group.rollout.ticket.policy_version = step - 1;
    for (Response& response : group.rollout.responses) response.versions.clear();
  }
  if (scorers_[run] != nullptr) score_again(found, *scorers_[run]);
  if (!keep_selected(found.groups, task_.groups)) {
    Log("learner", 0)
        .warn(
            "step {}, which is step {} of {}, has no group of --groups {}: all its groups are "
            "learned",
            step, logged, task_.runs[run].directory.string(), task_.config.run.replay_groups);
  }
  return found;
}

}  // namespace lie::replay
