// A coordinator with its queues in one process, for tests.
#pragma once

#include <memory>

#include "common/base/stream.h"
#include "common/comm/ticket_queue.h"
#include "learner/schedule/coordinator.h"

namespace lie::test {

/// Actors use `ticket_queue`, reward workers send to `scored`. Nothing stops the run.
struct LocalCoordinator {
  explicit LocalCoordinator(int actors = 1, bool in_flight_weights = false)
      : ticket_queue(actors),
        coordinator({.ticket_queue = ticket_queue,
                     .actors = actors,
                     .scored = scored,
                     .stop = stop,
                     .in_flight_weights = in_flight_weights}) {}

  /// The actor's end of the ticket queue.
  std::unique_ptr<TicketClient> client(int actor = 0) { return ticket_queue.client(actor); }

  LocalTicketQueue ticket_queue;
  BoundedQueue<ScoredGroup> scored{64};
  EarlyStop stop{[] { return 0; }};
  Coordinator coordinator;
};

}  // namespace lie::test
