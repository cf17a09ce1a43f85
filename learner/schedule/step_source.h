// The step groups of learner 0 while actors generate.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/base/stream.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/sampling_mode.h"
#include "learner/step.h"

namespace lie {

/// The steps after `parts.first_step` up to `parts.last_step`. Ends earlier where the run stops:
/// before a step that may not begin, or within a step of which some groups have not begun. Finished
/// groups of such a step are in the journal for the next start.
class StepSource : public Source<StepGroups> {
 public:
  /// Keeps a reference to `stop`.
  StepSource(const SamplingParts& parts, EarlyStop& stop)
      : mode_(sampling_mode(parts)),
        stop_(stop),
        step_(parts.first_step),
        last_step_(parts.last_step) {}

  std::optional<StepGroups> receive() override;

  /// See SamplingMode::order_first_steps().
  void order_first_steps(std::int64_t logged_prompts) { mode_->order_first_steps(logged_prompts); }
  /// See SamplingMode::last_complete().
  std::int64_t last_complete() const { return mode_->last_complete(step_); }

 private:
  std::unique_ptr<SamplingMode> mode_;
  EarlyStop& stop_;
  std::int64_t step_, last_step_;
};

}  // namespace lie
