// How a training step gets its groups. Three modes, one for each way that rollout.* can be set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/rollout/prompt_stream.h"
#include "learner/schedule/coordinator.h"
#include "learner/schedule/rollout_schedule.h"
#include "learner/schedule/tickets.h"
#include "learner/step.h"

namespace lie {

/// What a sampling mode works with. Everything outlives it.
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

/// Steps are sampled in their order.
class SamplingMode {
 public:
  virtual ~SamplingMode() = default;

  /// Orders the groups that may be generated before the first step is sampled. Steps that are
  /// learned again from the log precede it, which use the next `logged_prompts` of the stream.
  virtual void order_first_steps(std::int64_t /*logged_prompts*/) {}

  /// Returns the groups of the next step, and advances the prompt stream past the prompts that
  /// belong to it. Blocks. Returns empty if the run stops before.
  virtual std::optional<StepGroups> sample(std::int64_t step) = 0;

  /// Returns the last step such that every group drawn by it or an earlier step is in a step up to
  /// `step`, the last one that was sampled.
  virtual std::int64_t last_complete(std::int64_t step) const { return step; }
};

/// Returns the mode that the options ask for:
/// - Own groups: a step takes the groups of its own prompts. They are ordered rollout.max_staleness
///   steps ahead; without staleness the actors then learn that new weights follow.
/// - First groups (rollout.complete_with): a step takes the first groups that are finished, as
///   learner/schedule/first_groups.h says.
/// - Dynamic sampling: a step draws prompts in rounds until it has its number of groups with
/// signal.
std::unique_ptr<SamplingMode> sampling_mode(const SamplingParts& parts);

}  // namespace lie
