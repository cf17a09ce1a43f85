// Tickets on request: an actor with free slots sends a TicketRequest, and the coordinator on
// learner 0 answers with one Assignment. Both ends are here, over MPI and between threads. An actor
// has at most one open request. The coordinator may assign more tickets than the actor has free
// slots, but it holds back no ticket that another actor could work on.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/stream.h"
#include "common/rollout/rollout.h"

namespace lie {

class Job;

/// An actor whose request has not been answered yet.
struct WaitingActor {
  int actor = 0;
  TicketRequest request;
};

/// The coordinator's end. Actors are numbered from 0 in the order of the role layout.
class TicketQueue {
 public:
  virtual ~TicketQueue() = default;
  /// Returns the actors that wait for an answer, the one that has waited longest first. An actor
  /// waits until it is answered. Never blocks. Throws JobEnding.
  virtual std::vector<WaitingActor> waiting_actors() = 0;
  /// Answers a waiting actor. Throws Error if the actor is not waiting. Never blocks.
  virtual void answer(int actor, Assignment assignment) = 0;
};

/// The actor's end. An assignment kFinish ends the stream: no request is sent after it, and every
/// later call returns it again.
class TicketClient {
 public:
  /// `send` sends a request to the coordinator, whose answer arrives in `answers`.
  TicketClient(std::function<void(TicketRequest)> send,
               std::shared_ptr<PollableSource<Assignment>> answers)
      : send_(std::move(send)), answers_(std::move(answers)) {}

  /// Sends the request unless one is open, waits for the answer and returns it. Throws JobEnding.
  Assignment receive(TicketRequest request);
  /// Sends the request unless one is open, and returns the answer if it has arrived. The request
  /// thus travels while the actor generates. An open request is not changed by a later one.
  std::optional<Assignment> try_receive(TicketRequest request);

 private:
  void send_request_once(TicketRequest request);
  Assignment accept(Assignment answer);

  std::function<void(TicketRequest)> send_;
  std::shared_ptr<PollableSource<Assignment>> answers_;
  bool request_open_ = false, finished_ = false;
};

/// Creates the queue over MPI on the coordinator's rank. `actors` are world ranks.
std::unique_ptr<TicketQueue> mpi_ticket_queue(Job& job, std::vector<int> actors);

/// Creates the actor's end over MPI. `ticket_queue_rank` is the coordinator's world rank.
std::unique_ptr<TicketClient> mpi_ticket_client(Job& job, int ticket_queue_rank);

/// The queue between threads of one process. It must outlive its clients.
class LocalTicketQueue : public TicketQueue {
 public:
  explicit LocalTicketQueue(int actors);
  std::vector<WaitingActor> waiting_actors() override;
  void answer(int actor, Assignment assignment) override;

  /// Returns the end of actor number `actor`, for use by that actor's thread.
  std::unique_ptr<TicketClient> client(int actor);
  /// Makes every call of the queue and its clients throw `cause`, including waiting calls. Later
  /// causes are ignored.
  void poison(std::exception_ptr cause);

 private:
  BoundedQueue<WaitingActor> requests_;
  std::vector<std::shared_ptr<BoundedQueue<Assignment>>> answers_;  // by actor
  std::vector<WaitingActor> waiting_;  // used by the coordinator's thread only
};

}  // namespace lie
