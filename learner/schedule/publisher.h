// Learner 0 after an update: sends the actors the new weights, and evaluates the policy when due.
#pragma once

#include <cstdint>

#include "common/comm/collective/collective.h"
#include "common/comm/weight_sync.h"
#include "learner/schedule/group_collector.h"
#include "learner/schedule/tickets.h"
#include "learner/step_recorders.h"

namespace lie {

class Publisher : public StepRecorder {
 public:
  /// Keeps references. `weight_group`: learner 0 and the actors, see common/comm/weight_sync.h.
  /// `weights`: where all of them are whenever a step has been learned; nothing where an actor
  /// computes with the learner's own.
  /// `first_version`: the first that anything is generated with.
  Publisher(GroupCollector& collector, Collective& weight_group, DeviceSpan weights,
            const WeightSyncOptions& options, const EvaluationTickets& evaluations,
            std::int64_t first_version)
      : collector_(collector),
        weight_group_(weight_group),
        weights_(weights),
        options_(options),
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
  Collective& weight_group_;
  DeviceSpan weights_;
  const WeightSyncOptions& options_;
  const EvaluationTickets& evaluations_;
  std::int64_t first_version_;
};

}  // namespace lie
