#include "tools/replay/replayed_steps.h"

#include <utility>
#include <vector>

namespace lie::replay {

std::optional<StepGroups> ReplayedSteps::receive() {
  std::optional<StepGroups> step = logged_.receive();
  if (!step) return {};
  step->is_logged = false;
  step->evaluation.clear();
  if (!compares_) step->logged_results.clear();
  if (scorer_ != nullptr) score_again(*step, *scorer_);
  return step;
}

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

}  // namespace lie::replay
