// The steps after the checkpoint of a resumed run that its log already holds. They are learned
// again from the log, and no token is generated (invariants E7 and E11).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "common/base/stream.h"
#include "common/rollout/prompt_stream.h"
#include "common/trajectory/step_log.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/tickets.h"
#include "learner/step.h"

namespace lie {

/// Decodes a response if coverage counts words, since the log holds no text. Empty otherwise.
using TextOfResponse = std::function<std::string(std::span<const std::int32_t>)>;

/// Reads a step from the log, and marks it as logged. Step 0 is the evaluation of the start policy.
/// `as_drawn`: gives each group the step and number with which it was drawn, in place of the step
/// that took it.
StepGroups read_logged_step(const StepLog& log, std::int64_t step, const TextOfResponse& text,
                            bool as_drawn = false);

/// Gives the groups of a logged step, read as drawn, the tickets of their prompts again. Advances
/// the prompt stream as if the step were generated. Throws Error if the groups answer other
/// prompts.
void restore_tickets(StepGroups& step, PromptStream& prompts, const TicketOptions& options);

/// Gives the steps after `first_step` up to `last_step` from the log, then the steps of `next`.
class LoggedSteps : public Source<StepGroups> {
 public:
  struct Range {
    std::int64_t first_step = 0, last_step = 0;
  };

  /// Keeps references to log, prompts, stop and next.
  LoggedSteps(const StepLog& log, Range range, TextOfResponse text, PromptStream& prompts,
              const TicketOptions& options, EarlyStop& stop, Source<StepGroups>& next);

  /// Restores the tickets of each step, and throws Error as restore_tickets() does.
  std::optional<StepGroups> receive() override;

 private:
  const StepLog& log_;
  Range range_;
  TextOfResponse text_;
  PromptStream& prompts_;
  TicketOptions options_;
  EarlyStop& stop_;
  Source<StepGroups>& next_;
};

}  // namespace lie
