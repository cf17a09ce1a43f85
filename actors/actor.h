// The actor: tickets in, rollout groups out, new weights between steps, or between forward passes.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "actors/generator.h"
#include "common/base/stream.h"
#include "common/comm/collective/collective.h"
#include "common/comm/host_weights.h"
#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"
#include "model/transformer/transformer.h"

namespace lie {

/// What an actor works with; all outlive run_actor.
struct ActorParts {
  DeviceSpan weights;  // flat, overwritten by weight sync; empty where there is none
  Transformer& policy;
  Generator& generator;
  TicketClient& tickets;
  Sink<RolloutGroup>& rollouts;
  Collective& weight_group;  // learner 0 and the actors, see common/comm/weight_sync.h
  std::int32_t rank = 0;     // noted on each response
  /// Called between forward passes, so that a rank that computes for long hears of failures; may be
  /// empty.
  std::function<void()> poll_progress = {};
  /// Null: this actor holds weights of its own.
  HostWeights* host_weights = nullptr;
};

/// Generates what is assigned until the run is over, then closes `rollouts`. Unless weights change
/// in flight, all tokens of a group come from one policy version: what is in flight is finished
/// before new weights are taken in. What waits for weights when there are no more is left behind.
/// Throws Error if weights arrive that the next ticket was not made for.
void run_actor(const ActorParts& parts);

}  // namespace lie
