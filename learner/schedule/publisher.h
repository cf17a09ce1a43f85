// A learner's end of weight sync in the order of a run: learner 0 announces new weights to the
// actors, then each learner sends them to the actors that receive from it.
#pragma once

#include <cstdint>

#include "common/comm/collective/collective.h"
#include "learner/schedule/coordinator.h"
#include "model/weight_sync/weight_sync.h"

namespace lie {

class Publisher {
 public:
  /// Keeps references. `coordinator` is null except on learner 0. `first_version` is the first
  /// version that anything is generated with. With `learners` each learner sends weights, but only
  /// after learner 0 has announced them: an actor that had them before would otherwise be notified
  /// twice.
  Publisher(Coordinator* coordinator, WeightSender& weights, std::int64_t first_version,
            Collective* learners = nullptr)
      : coordinator_(coordinator),
        weights_(weights),
        first_version_(first_version),
        learners_(learners) {}

  /// Sends the weights after training step `policy_version`, unless nothing is generated with them.
  /// Blocks until the actors that receive from this learner have them.
  void publish(std::int64_t policy_version);
  /// Ends the run for the actors. Blocks until they have finished what is in flight.
  void finish();

 private:
  void announce();

  Coordinator* coordinator_;
  WeightSender& weights_;
  std::int64_t first_version_;
  Collective* learners_;
};

}  // namespace lie
