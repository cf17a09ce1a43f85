// Learner 0 after an update: sends the actors the new weights, and evaluates the policy when due.
#pragma once

#include <cstdint>

#include "learner/schedule/group_collector.h"
#include "learner/schedule/tickets.h"
#include "learner/step_recorders.h"
#include "model/weight_sync/weight_sync.h"

namespace lie {

class Publisher : public StepRecorder {
 public:
  /// Keeps references. `first_version` is the first version that anything is generated with.
  Publisher(GroupCollector& collector, WeightSender& weights, const EvaluationTickets& evaluations,
            std::int64_t first_version)
      : collector_(collector),
        weights_(weights),
        evaluations_(evaluations),
        first_version_(first_version) {}

  /// Sends the current weights as those after training step `policy_version`. Blocks until all
  /// actors have them.
  void publish(std::int64_t policy_version);
  /// The same for the weights that the run begins with, if anything is generated with them.
  void begin(std::int64_t policy_version) {
    if (policy_version >= first_version_) publish(policy_version);
  }

  void take(StepOutcome& step) override;
  /// Tells the actors that the run is over. Blocks until they have finished what is in flight.
  void finish();

 private:
  GroupCollector& collector_;
  WeightSender& weights_;
  const EvaluationTickets& evaluations_;
  std::int64_t first_version_;
};

}  // namespace lie
