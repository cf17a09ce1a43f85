// The actor: receives tickets, generates rollout groups, sends them, and receives new weights.
#pragma once

#include <cstdint>
#include <functional>

#include "actors/generator.h"
#include "common/base/stream.h"
#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"
#include "model/weight_sync/weight_sync.h"

namespace lie {

/// The connections of an actor. They must outlive run_actor.
struct ActorTransport {
  TicketClient& tickets;
  Sink<RolloutGroup>& rollouts;
  std::int32_t rank = 0;  // noted on each response
  /// Called between forward passes, so that a rank that computes for long notices failures of other
  /// ranks. May be empty.
  std::function<void()> poll_progress = {};
  /// Receives the number of tokens that this actor has sampled so far, after each forward pass. May
  /// be empty.
  std::function<void(std::int64_t tokens)> sampled = {};
};

/// Generates the assigned tickets until the run is over, then closes `rollouts`. Responses in
/// flight are finished before new weights are received, so that all tokens of a group come from one
/// policy version, unless the options let weights change in flight. At the end of the run,
/// responses that wait for newer weights are dropped. Throws Error if a ticket is for other weights
/// than the policy's. `weights` holds the policy that `generator` computes with.
void run_actor(WeightReceiver& weights, Generator& generator, const ActorTransport& transport);

}  // namespace lie
