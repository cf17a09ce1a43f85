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
  std::vector<const ScoredGroup*> groups;
  for (const ScoredGroup& group : step.groups) groups.push_back(&group);
  auto scores = scorer.score(groups);
  for (std::size_t i = 0; i < scores.size(); ++i) step.groups[i].scores = std::move(scores[i]);
}

}  // namespace lie::replay
