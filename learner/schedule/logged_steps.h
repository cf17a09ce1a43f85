// The steps between a run's checkpoint and the end of its log: learned again from the log, with no
// token generated (invariants E7 and E11).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/stream.h"
#include "common/rollout/prompt_stream.h"
#include "common/trajectory/step_log.h"
#include "learner/schedule/early_stop.h"
#include "learner/schedule/tickets.h"
#include "learner/step.h"

namespace lie {

/// The text of a response where coverage units are words, which the log does not keep; else empty.
using TextOfResponse = std::function<std::string(std::span<const std::int32_t>)>;

/// A step as the log has it, marked as logged; step 0 is the evaluation of the start policy.
/// `as_drawn`: its tickets are of the steps that drew them, where others may have taken them.
StepGroups read_logged_step(const StepLog& log, std::int64_t step, const TextOfResponse& text,
                            bool as_drawn = false);

/// The steps after `first_step` up to `last_step` from the log, then those of `next`.
class LoggedSteps : public Source<StepGroups> {
 public:
  struct Range {
    std::int64_t first_step = 0, last_step = 0;
  };

  /// Keeps references to log, prompts, stop and next.
  LoggedSteps(const StepLog& log, Range range, TextOfResponse text, PromptStream& prompts,
              const TicketOptions& options, EarlyStop& stop, Source<StepGroups>& next);

  /// The prompt stream advances as if the step were generated. Throws Error where the log answers
  /// other prompts.
  std::optional<StepGroups> receive() override;

 private:
  void take_tickets(StepGroups& step);

  const StepLog& log_;
  Range range_;
  TextOfResponse text_;
  PromptStream& prompts_;
  TicketOptions options_;
  EarlyStop& stop_;
  Source<StepGroups>& next_;
};

}  // namespace lie
