#include "learner/schedule/step_source.h"

namespace lie {

std::optional<StepGroups> StepSource::receive() {
  if (step_ >= last_step_ || !stop_.may_begin(step_ + 1)) return std::nullopt;
  std::optional<StepGroups> groups = mode_->sample(step_ + 1);
  if (!groups) {
    stop_.stopped_within_step();
    return std::nullopt;
  }
  stop_.has_groups();
  ++step_;
  return groups;
}

}  // namespace lie
