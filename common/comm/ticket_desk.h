// Tickets by pull: an actor with room asks, the coordinator on learner 0 answers. Both ends, over
// MPI and between threads. A request is an empty message; its answer is one Assignment; an actor
// has at most one request open, so it holds no ticket that another actor could work on.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/comm/job.h"
#include "common/rollout.h"
#include "common/stream.h"

namespace lie {

/// The coordinator's end. Actors are numbered from 0 in the order of the layout.
class TicketDesk {
 public:
  virtual ~TicketDesk() = default;
  /// The actors that wait for an answer, the one that has waited longest first; never blocks. An
  /// actor waits until it is answered. Throws JobEnding.
  virtual std::vector<int> waiting_actors() = 0;
  /// Answers an actor that waits; only such an actor may be answered. Never blocks.
  virtual void answer(int actor, const Assignment& assignment) = 0;
};

/// The desk over MPI, on the coordinator's rank; `actors` are world ranks.
std::unique_ptr<TicketDesk> mpi_ticket_desk(Job& job, std::vector<int> actors);

/// The actor's end over MPI. try_receive asks if no request is open and returns the answer if it is
/// there, so the request travels while the actor generates; receive waits for the answer. An
/// assignment kFinish ends the stream: nothing is asked after it.
std::unique_ptr<PollableSource<Assignment>> mpi_ticket_client(Job& job, int desk_rank);

/// The desk between threads of one process. Outlives its clients.
class LocalTicketDesk : public TicketDesk {
 public:
  explicit LocalTicketDesk(int actors);
  std::vector<int> waiting_actors() override;
  void answer(int actor, const Assignment& assignment) override;

  /// The end of actor number `actor`, for its thread; same behaviour as mpi_ticket_client.
  std::unique_ptr<PollableSource<Assignment>> client(int actor);
  /// Makes every call of desk and clients throw `cause`, the waiting ones too. The first cause
  /// stays.
  void poison(std::exception_ptr cause);

 private:
  class Client;
  void check_poison() const;
  void ask(int actor);
  std::optional<Assignment> try_answer(int actor);
  Assignment wait_answer(int actor);

  std::mutex mutex_;
  std::condition_variable answered_;
  std::deque<int> waiting_;
  std::vector<std::optional<Assignment>> answers_;  // by actor
  std::exception_ptr poison_;
};

}  // namespace lie
