// What a role is connected to: streams, the ticket desk and groups, over MPI or between threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/base/stream.h"
#include "common/comm/collective/collective.h"
#include "common/comm/host_weights.h"
#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"
#include "model/transformer/transformer.h"
#include "tools/run/roles/device_collective.h"
#include "tools/run/roles/staged_collective.h"

namespace lie {

struct LearnerState;

struct ActorTransport {
  TicketClient& tickets;
  Sink<RolloutGroup>& rollouts;
  Collective& weight_group;
  int rank = 0, threads = 1;
  std::function<void()> poll_progress = {};  // called between forward passes
  HostWeights* host_weights = nullptr;       // that this actor shares with those of its host
  DeviceGroup on_device = staged_collective;
  int turn = -1;  // of the host's GPUs, see make_operators()
  /// The learner's policy for these operators; empty, or of nothing: the actor has weights of its
  /// own.
  std::function<std::optional<Transformer>(const ModelConfig&, Operators&)> borrow_policy = {};
};

struct RewardTransport {
  Source<RolloutGroup>& rollouts;
  Sink<ScoredGroup>& scored;
  int rank = 0;
  std::function<void()> poll_progress = {};  // called while a reward program is waited for
};

struct LearnerTransport {
  Collective& learners;
  int threads = 1;
  DeviceGroup on_device = staged_collective;
  int turn = -1;  // of the host's GPUs, see make_operators()
  /// Where actors may compute with its policy: called with it before anything else does, of all
  /// learners. Whether they do.
  std::function<bool(std::shared_ptr<LearnerState>)> lend_policy = {};
};

/// What the coordinator on learner 0 is connected to.
struct CoordinatorTransport {
  TicketQueue& ticket_queue;
  int actors = 1;
  PollableSource<ScoredGroup>& scored;
  Collective& weight_group;
};

}  // namespace lie
