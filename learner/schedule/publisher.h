// Learner 0 sends the actors new weights.
#pragma once

#include <cstdint>

#include "common/comm/collective/collective.h"
#include "common/comm/weight_sync.h"
#include "learner/schedule/coordinator.h"

namespace lie {

class Publisher {
 public:
  /// Keeps references. `weight_group`: learner 0 and the actors, see common/comm/weight_sync.h.
  /// `weights`: the updated weights after each step; empty where an actor computes with the
  /// learner's weights.
  /// `first_version`: the first version that anything is generated with.
  Publisher(Coordinator& coordinator, Collective& weight_group, DeviceSpan weights,
            const WeightSyncOptions& options, std::int64_t first_version)
      : coordinator_(coordinator),
        weight_group_(weight_group),
        weights_(weights),
        options_(options),
        first_version_(first_version) {}

  /// Sends the weights after training step `policy_version`, unless nothing is generated with them.
  /// Blocks until all actors have them.
  void publish(std::int64_t policy_version);
  /// Ends the run for the actors. Blocks until they have finished what is in flight.
  void finish();

 private:
  Coordinator& coordinator_;
  Collective& weight_group_;
  DeviceSpan weights_;
  const WeightSyncOptions& options_;
  std::int64_t first_version_;
};

}  // namespace lie
