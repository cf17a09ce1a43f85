// Learner 0 after an update: sends the actors the new weights, and evaluates the policy when due.
#pragma once

#include <cstdint>

#include "common/comm/collective.h"
#include "learner/coordinator.h"
#include "learner/step_chain.h"
#include "learner/tickets.h"
#include "model/weights.h"

namespace lie {

class Publisher : public StepStage {
 public:
  /// Keeps references. `weight_group`: learner 0 and the actors, see common/comm/weight_sync.h.
  Publisher(Coordinator& coordinator, Collective& weight_group, const Weights& weights,
            const EvaluationTickets& evaluations)
      : coordinator_(coordinator),
        weight_group_(weight_group),
        weights_(weights),
        evaluations_(evaluations) {}

  /// Sends the current weights as those after training step `policy_version`. Blocks until all
  /// actors have them.
  void publish(std::int64_t policy_version);

  void take(StepOutcome& step) override;
  /// Tells the actors that the run is over.
  void close() override;

 private:
  Coordinator& coordinator_;
  Collective& weight_group_;
  const Weights& weights_;
  const EvaluationTickets& evaluations_;
};

}  // namespace lie
