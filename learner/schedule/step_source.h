// The step groups of learner 0 while actors generate. A step gets them in one of three modes:
// - Own groups: a step takes the groups of its own prompts. They are ordered rollout.max_staleness
//   steps ahead; without staleness the actors then learn that new weights follow.
// - First groups (rollout.complete_with): a step takes the first groups that are finished, as
//   learner/schedule/first_groups.h says.
// - Dynamic sampling: a step draws prompts in rounds until it has its number of groups with signal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/base/stream.h"
#include "common/rollout/prompt_stream.h"
#include "learner/schedule/coordinator.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/rollout_schedule.h"
#include "learner/schedule/tickets.h"
#include "learner/step.h"

namespace lie {

/// The objects that a step source works with. All of them must outlive it.
struct SamplingParts {
  Coordinator& coordinator;
  PromptStream& prompts;
  TicketOptions options;
  /// Step that precedes the first one to sample, and the last step of the run.
  std::int64_t first_step = 0, last_step = 0;
  /// The schedule of the run so far or of the run to repeat; null without one.
  const RolloutSchedule* schedule = nullptr;
  /// Whether the schedule says under which weights every group is generated.
  bool follows = false;
};

/// The steps after `parts.first_step` up to `parts.last_step`. Ends earlier if the run stops:
/// before a step that may not begin, or within a step before all of its groups have begun. Finished
/// groups of such a step are in the journal for the next start.
class StepSource : public Source<StepGroups> {
 public:
  /// Keeps a reference to `stop`.
  StepSource(const SamplingParts& parts, EarlyStop& stop)
      : parts_(parts), step_(parts.first_step), stop_(stop) {}

  std::optional<StepGroups> receive() override;

  /// Orders the groups that may be generated before the first step is sampled. Steps that are
  /// learned again from the log come first and use the next `logged_prompts` prompts of the stream.
  virtual void order_first_steps(std::int64_t /*logged_prompts*/) {}
  /// Returns the last step such that every group drawn by it or an earlier step is in a step that
  /// was received.
  virtual std::int64_t last_complete() const { return step_; }

 protected:
  /// Returns the groups of the next step, and advances the prompt stream past the prompts that
  /// belong to it. Blocks. Returns empty if the run stops before.
  virtual std::optional<StepGroups> sample(std::int64_t step) = 0;

  const SamplingParts parts_;
  std::int64_t step_;  // the last one that was received

 private:
  EarlyStop& stop_;
};

/// Returns a source in the mode that the options name.
std::unique_ptr<StepSource> make_step_source(const SamplingParts& parts, EarlyStop& stop);

}  // namespace lie
