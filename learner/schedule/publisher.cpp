#include "learner/schedule/publisher.h"

#include <optional>

#include "common/base/clock.h"

namespace lie {

void Publisher::publish(std::int64_t policy_version) {
  collector_.announce_weights();
  weights_.publish(policy_version);
  collector_.set_version(policy_version);
}

void Publisher::take(StepOutcome& step) {
  if (step.step < first_version_) return;
  {
    const Timed timed(step.seconds.publish);
    publish(step.step);
  }
  if (step.is_logged || !evaluations_.due_after(step.step)) return;
  const Timed timed(step.seconds.evaluate);
  step.evaluation = collector_.collect(evaluations_.after(step.step), std::nullopt).value();
}

void Publisher::finish() {
  collector_.announce_weights();
  weights_.finish();
}

}  // namespace lie
