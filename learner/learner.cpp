#include "learner/learner.h"

#include <utility>

#include "common/base/clock.h"
#include "learner/schedule/staleness.h"

namespace lie {
namespace {

std::optional<StepGroups> receive(const LearnerParts& parts, StepSeconds& seconds) {
  const Timed timed(seconds.generate);
  return parts.groups.receive();
}

void learn(const LearnerParts& parts, StepOutcome& step) {
  const Timed timed(step.seconds.update);
  if (parts.max_staleness) check_staleness(step.step, step.groups, *parts.max_staleness);
  for (const ScoredGroup& group : step.groups) {
    step.advantages.push_back(group_advantages(group.scores, parts.advantage));
  }
  step.update = parts.updater.run(step.step, step.groups, step.advantages);
}

}  // namespace

void run_learner(const LearnerParts& parts) {
  for (;;) {
    StepSeconds seconds;
    std::optional<StepGroups> collected = receive(parts, seconds);
    if (!collected) break;
    StepOutcome step{.step = collected->step,
                     .groups = std::move(collected->groups),
                     .dropped = std::move(collected->dropped),
                     .wanted_groups = collected->wanted_groups,
                     .evaluation = std::move(collected->evaluation),
                     .seconds = seconds,
                     .is_logged = collected->is_logged,
                     .logged_results = std::move(collected->logged_results)};
    learn(parts, step);
    parts.outcomes.send(std::move(step));
  }
  parts.outcomes.close();
}

}  // namespace lie
