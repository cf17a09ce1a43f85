#include "learner/learner.h"

#include <utility>

#include "common/base/clock.h"
#include "common/base/trace_range.h"
#include "learner/schedule/staleness.h"

namespace lie {
namespace {

/// Waits for the groups of the next step; empty after the last step.
std::optional<StepOutcome> collect(const LearnerParts& parts) {
  StepSeconds seconds;
  std::optional<StepGroups> groups;
  {
    const TraceRange range("generate");
    const Timed timed(seconds.generate);
    groups = parts.groups.receive();
  }
  if (!groups) return std::nullopt;
  return StepOutcome{std::move(*groups), {}, {}, seconds};
}

void compute_advantages(const LearnerParts& parts, StepOutcome& step) {
  const Timed timed(step.seconds.update);
  if (parts.max_staleness) check_staleness(step.step, step.groups, *parts.max_staleness);
  step.advantages = step_advantages(step.groups, parts.advantage);
}

void update_policy(const LearnerParts& parts, StepOutcome& step) {
  const TraceRange range("update", step.step);
  const Timed timed(step.seconds.update);
  step.update = parts.updater.run(step.step, step.groups, step.advantages);
}

/// Records which groups the step took. This precedes publish_weights(): groups generated with the
/// new weights are valid only if a restarted run takes the same groups again.
void record_schedule(const LearnerParts& parts, const StepOutcome& step) {
  if (parts.schedule != nullptr) parts.schedule->record(step);
}

void publish_weights(const LearnerParts& parts, StepOutcome& step) {
  if (parts.publisher == nullptr) return;
  const TraceRange range("publish", step.step);
  const Timed timed(step.seconds.publish);
  parts.publisher->publish(step.step);
}

void evaluate(const LearnerParts& parts, StepOutcome& step) {
  const auto& evaluations = parts.evaluations;
  if (!evaluations || step.is_logged || !evaluations->tickets.due_after(step.step)) return;
  const TraceRange range("evaluate", step.step);
  const Timed timed(step.seconds.evaluate);
  auto tickets = evaluations->tickets.after(step.step);
  step.evaluation = evaluations->coordinator.collect(std::move(tickets)).value();
}

}  // namespace

void record_start_policy(const LearnerParts& parts, StepOutcome start) {
  publish_weights(parts, start);
  evaluate(parts, start);
  parts.recorders.record(start);
  parts.checkpoints.record(start);
}

void run_learner(const LearnerParts& parts) {
  while (std::optional<StepOutcome> step = collect(parts)) {
    compute_advantages(parts, *step);
    update_policy(parts, *step);
    record_schedule(parts, *step);
    publish_weights(parts, *step);
    evaluate(parts, *step);
    parts.recorders.record(*step);
    parts.checkpoints.record(*step);
  }
  parts.recorders.close();
  parts.checkpoints.close();
}

}  // namespace lie
