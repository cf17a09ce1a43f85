// Learner 0's step groups while training: what the actors generate for the prompt stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/base/stream.h"
#include "common/rollout/prompt_stream.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/group_collector.h"
#include "learner/schedule/rollout_schedule.h"
#include "learner/schedule/tickets.h"
#include "learner/step.h"

namespace lie {

/// The steps after `first_step` up to `last_step`. A step's prompts are ordered max_staleness steps
/// before it is asked for, if only then under the weights behind the step before; then the actors
/// are told that new weights follow. Ends earlier where the next step may not begin, or a step is
/// stopped before all its groups have begun. With dynamic sampling a step draws prompts until it
/// has its number of groups with signal; with complete_with: first_groups it takes those that
/// learner/schedule/first_groups.h says, and a stop leaves what is finished to the next start.
class StepSource : public Source<StepGroups> {
 public:
  /// Keeps references to collector, prompts and stop, and to a schedule unless null. `follows`: it
  /// says under which weights every group is generated. Where steps take the first groups it says
  /// which those are, as far as it goes, in any case: it is what an earlier start did.
  StepSource(GroupCollector& collector, PromptStream& prompts, const TicketOptions& options,
             std::int64_t first_step, std::int64_t last_step, EarlyStop& stop,
             const RolloutSchedule* schedule = nullptr, bool follows = false)
      : collector_(collector),
        prompts_(prompts),
        options_(options),
        stop_(stop),
        schedule_(schedule),
        follows_(follows),
        step_(first_step),
        last_step_(last_step),
        drawn_(std::max<std::int64_t>(0, first_step - options.max_staleness)) {}

  std::optional<StepGroups> receive() override;

  /// Orders what may be ordered before the first step is asked for, which steps learned from the
  /// log precede: the stream gives `logged_prompts` for them first.
  void order_first_steps(std::int64_t logged_prompts);

  /// The last step such that all groups which it and those before it drew have been given.
  std::int64_t last_given() const;

 private:
  std::optional<std::vector<ScoredGroup>> sample(std::int64_t step);
  void order_steps();
  void order_drawn();
  bool may_be_taken(const Ticket& ticket) const;
  std::vector<DrawnGroup> chosen(std::vector<OpenGroup> open) const;
  std::optional<std::vector<ScoredGroup>> sample_first();
  std::optional<std::vector<ScoredGroup>> sample_ordered();
  std::optional<std::vector<ScoredGroup>> sample_in_rounds(std::int64_t step);
  StepGroups selected(std::vector<ScoredGroup> groups);

  GroupCollector& collector_;
  PromptStream& prompts_;
  TicketOptions options_;
  EarlyStop& stop_;
  const RolloutSchedule* schedule_;
  const bool follows_;
  std::int64_t step_, last_step_;
  std::int64_t drawn_;  // where steps take the first groups: the last whose prompts are ordered
  std::deque<PromptStreamState> ordered_;  // the stream behind each step that is ordered
  bool has_warned_ = false;                // of a step with too few groups
};

}  // namespace lie
