// The streams, queues and groups that connect a role, over MPI or between threads.
#pragma once

#include <functional>
#include <memory>

#include "actors/actor.h"
#include "common/base/stream.h"
#include "common/comm/collective/collective.h"
#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"
#include "model/collective/device_collective.h"
#include "model/weight_sync/weight_sync.h"

namespace lie {

/// Makes a learner's end of weight sync.
using MakeWeightSender = std::function<std::unique_ptr<WeightSender>(const LearnerWeights&)>;

struct LearnerTransport {
  Collective& learners;
  int threads = 1;
  MakeDeviceCollective device_collective = through_host_collective;
  int local_gpu = -1;                                           // see make_operators()
  MakeWeightSender weight_sender = [](const LearnerWeights&) {  // to no actor
    return std::make_unique<WeightSender>();
  };
  /// Whether an actor in this process computes with the learner's policy.
  bool has_own_actor = false;
  /// Serves the actor of this rank during an update. Empty: no actor depends on this rank.
  std::function<void()> poll_progress = {};
};

/// The connections of the coordinator on learner 0.
struct CoordinatorTransport {
  TicketQueue& ticket_queue;
  int actors = 1;
  PollableSource<ScoredGroup>& scored;
};

}  // namespace lie
