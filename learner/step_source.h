// Learner 0's step groups while training: what the actors generate for the prompt stream.
#pragma once

#include <cstdint>
#include <optional>

#include "common/prompt_stream.h"
#include "common/stream.h"
#include "learner/coordinator.h"
#include "learner/early_stop.h"
#include "learner/step.h"
#include "learner/tickets.h"

namespace lie {

/// The steps after `first_step` up to `last_step`, each generated when it is asked for, under the
/// weights behind the step before. The actors are told that new weights follow. Ends earlier where
/// the next step may not begin.
class StepSource : public Source<StepGroups> {
 public:
  /// Keeps references to coordinator, prompts and stop.
  StepSource(Coordinator& coordinator, PromptStream& prompts, const TicketOptions& options,
             std::int64_t first_step, std::int64_t last_step, EarlyStop& stop)
      : coordinator_(coordinator),
        prompts_(prompts),
        options_(options),
        stop_(stop),
        step_(first_step),
        last_step_(last_step) {}

  std::optional<StepGroups> receive() override {
    if (step_ >= last_step_ || !stop_.may_begin(step_ + 1)) return std::nullopt;
    ++step_;
    return StepGroups{step_, coordinator_.collect(training_tickets(prompts_, options_, step_),
                                                  Assignment::Kind::kWeights)};
  }

 private:
  Coordinator& coordinator_;
  PromptStream& prompts_;
  TicketOptions options_;
  EarlyStop& stop_;
  std::int64_t step_, last_step_;
};

}  // namespace lie
