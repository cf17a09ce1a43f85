// Connects an actor that runs on a thread of its own to the other ranks. That thread must not call
// MPI, so the thread that does relays its messages whenever it polls the job's progress. To the
// other ranks the actor looks like one that has its rank for itself.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <vector>

#include "common/base/stream.h"
#include "common/comm/job.h"
#include "common/comm/mailbox.h"
#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"

namespace lie {

/// Relays ticket requests and groups of one actor, and the answers to it. All ranks that the actor
/// talks to may include this one.
class ActorRelay : public Progress {
 public:
  /// `ticket_queue_rank` is the coordinator's world rank, and `receivers` are those of the actor's
  /// groups. Keeps a reference to the job.
  ActorRelay(Job& job, int ticket_queue_rank, std::vector<int> receivers);
  ~ActorRelay() override;
  ActorRelay(const ActorRelay&) = delete;
  ActorRelay& operator=(const ActorRelay&) = delete;

  // ---- For the actor's thread
  TicketClient& tickets() { return tickets_; }
  /// Returns the sink of the actor's groups. It packs a group on the actor's thread.
  Sink<RolloutGroup>& rollouts() { return rollouts_; }

  // ---- For the thread that calls MPI
  void advance() override;
  /// Blocks until the actor has closed its groups and all messages have been received. Polls the
  /// job's progress meanwhile.
  void finish();

  /// Makes every call of both threads throw `cause`, waiting calls included. Any thread may call
  /// it. Later causes are ignored.
  void poison(std::exception_ptr cause);

 private:
  struct Outgoing {
    int destination = 0;
    Tag tag = Tag::kRollouts;
    std::shared_ptr<const Bytes> bytes;
  };
  class Rollouts : public Sink<RolloutGroup> {
   public:
    Rollouts(ActorRelay& relay, std::vector<int> receivers)
        : relay_(relay), receivers_(std::move(receivers)) {}
    void send(RolloutGroup group) override;
    void close() override;

   private:
    ActorRelay& relay_;
    std::vector<int> receivers_;
  };

  void post_all(std::size_t most_in_flight);

  Job& job_;
  BoundedQueue<Outgoing> outgoing_;
  std::shared_ptr<BoundedQueue<Assignment>> answers_;
  TicketClient tickets_;
  Rollouts rollouts_;
  std::atomic<bool> is_closed_ = false;  // the actor has queued its last message
  Outbox outbox_;
  Inbox inbox_;
};

}  // namespace lie
