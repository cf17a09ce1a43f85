// Learner 0's end of weight sync in the order of a run: announces new weights to the actors, then
// sends them.
#pragma once

#include <cstdint>

#include "learner/schedule/coordinator.h"
#include "model/weight_sync/weight_sync.h"

namespace lie {

class Publisher {
 public:
  /// Keeps references. `first_version` is the first version that anything is generated with.
  Publisher(Coordinator& coordinator, WeightSender& weights, std::int64_t first_version)
      : coordinator_(coordinator), weights_(weights), first_version_(first_version) {}

  /// Sends the weights after training step `policy_version`, unless nothing is generated with them.
  /// Blocks until all actors have them.
  void publish(std::int64_t policy_version);
  /// Ends the run for the actors. Blocks until they have finished what is in flight.
  void finish();

 private:
  Coordinator& coordinator_;
  WeightSender& weights_;
  std::int64_t first_version_;
};

}  // namespace lie
