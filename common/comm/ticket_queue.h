// Tickets by pull: an actor with room asks, the coordinator on learner 0 answers. Both ends, over
// MPI and between threads. A request is a TicketRequest, its answer one Assignment; an actor has at
// most one request open, once it has room. What it is handed beyond that room is the coordinator's
// choice: it holds back no ticket that another actor could work on.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

class Job;

/// An actor that has asked and is not answered yet.
struct WaitingActor {
  int actor = 0;
  TicketRequest request;
};

/// The coordinator's end. Actors are numbered from 0 in the order of the layout.
class TicketQueue {
 public:
  virtual ~TicketQueue() = default;
  /// The actors that wait for an answer, the one that has waited longest first; never blocks. An
  /// actor waits until it is answered. Throws JobEnding.
  virtual std::vector<WaitingActor> waiting_actors() = 0;
  /// Answers an actor that waits; only such an actor may be answered. Never blocks.
  virtual void answer(int actor, Assignment assignment) = 0;
};

/// The actor's end. An assignment kFinish ends the stream: nothing is asked after it, and it is
/// what every later call returns.
class TicketClient {
 public:
  virtual ~TicketClient() = default;
  /// What the actor is assigned for its request; waits for it. Throws JobEnding.
  Assignment receive(TicketRequest request);
  /// The same if the answer is there, so that the request travels while the actor generates. A
  /// request that is open stays as it was asked.
  std::optional<Assignment> try_receive(TicketRequest request);

 private:
  virtual void ask(TicketRequest request) = 0;
  virtual Assignment wait_answer() = 0;
  virtual std::optional<Assignment> try_answer() = 0;
  void ask_once(TicketRequest request);
  Assignment note(Assignment answer);

  bool asked_ = false, finished_ = false;
};

/// The desk over MPI, on the coordinator's rank; `actors` are world ranks.
std::unique_ptr<TicketQueue> mpi_ticket_queue(Job& job, std::vector<int> actors);

/// The actor's end over MPI.
std::unique_ptr<TicketClient> mpi_ticket_client(Job& job, int ticket_queue_rank);

/// The desk between threads of one process. Outlives its clients.
class LocalTicketQueue : public TicketQueue {
 public:
  explicit LocalTicketQueue(int actors);
  std::vector<WaitingActor> waiting_actors() override;
  void answer(int actor, Assignment assignment) override;

  /// The end of actor number `actor`, for its thread.
  std::unique_ptr<TicketClient> client(int actor);
  /// Makes every call of desk and clients throw `cause`, the waiting ones too. The first cause
  /// stays.
  void poison(std::exception_ptr cause);

 private:
  class Client;
  void check_poison() const;
  void ask(int actor, TicketRequest request);
  std::optional<Assignment> try_answer(int actor);
  Assignment wait_answer(int actor);

  std::mutex mutex_;
  std::condition_variable answered_;
  std::vector<WaitingActor> waiting_;
  std::vector<std::optional<Assignment>> answers_;  // by actor
  std::exception_ptr poison_;
};

}  // namespace lie
