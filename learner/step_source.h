// Learner 0's step groups while training: what the actors generate for the prompt stream.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "common/prompt_stream.h"
#include "common/stream.h"
#include "learner/early_stop.h"
#include "learner/group_collector.h"
#include "learner/step.h"
#include "learner/tickets.h"

namespace lie {

/// The steps after `first_step` up to `last_step`, each generated when it is asked for, under the
/// weights behind the step before. The actors are told that new weights follow. Ends earlier where
/// the next step may not begin, or a step is stopped before all its groups have begun.
class StepSource : public Source<StepGroups> {
 public:
  /// Keeps references to collector, prompts and stop.
  StepSource(GroupCollector& collector, PromptStream& prompts, const TicketOptions& options,
             std::int64_t first_step, std::int64_t last_step, EarlyStop& stop)
      : collector_(collector),
        prompts_(prompts),
        options_(options),
        stop_(stop),
        step_(first_step),
        last_step_(last_step) {}

  std::optional<StepGroups> receive() override {
    if (step_ >= last_step_ || !stop_.may_begin(step_ + 1)) return std::nullopt;
    const PromptStreamState before = prompts_.state();
    auto groups = collector_.collect(step_ + 1, training_tickets(prompts_, options_, step_ + 1),
                                     Assignment::Kind::kWeights);
    if (!groups) {
      prompts_.restore(before);  // as the checkpoint must have it
      stop_.stopped_within_step();
      return std::nullopt;
    }
    stop_.has_groups();
    return StepGroups{.step = ++step_, .groups = std::move(*groups)};
  }

  /// The last step that was given, or the one before the first.
  std::int64_t last_given() const { return step_; }

 private:
  GroupCollector& collector_;
  PromptStream& prompts_;
  TicketOptions options_;
  EarlyStop& stop_;
  std::int64_t step_, last_step_;
};

}  // namespace lie
