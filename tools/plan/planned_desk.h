// The coordinator's answers (learner/schedule/coordinator.h) without transport: what is handed out
// is dealt by the program's own HandOut.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/schedule/hand_out.h"

namespace lie::planning {

/// To an actor that asked. Without tickets: new weights follow.
struct TicketQueueAnswer {
  int actor = 0;
  std::vector<Ticket> tickets;
};

class PlannedDesk {
 public:
  /// `cuts`: as HandOut has it.
  PlannedDesk(std::size_t actors, bool cuts) : cuts_(cuts), told_(actors) {}

  /// Queues the tickets of a step.
  void add(std::deque<Ticket> tickets);
  void ask(int actor, TicketRequest request);
  /// A group is back, whole.
  void take_back(const Ticket& group);
  bool is_back(std::int64_t step) const { return !phases_.contains(step); }

  /// The answers that can be given now, to those who asked first. `tells_weights`: an actor for
  /// whom nothing is left is told that new weights follow, instead of waiting.
  std::vector<TicketQueueAnswer> answers(bool tells_weights);

  /// From now on groups for any weights wait for the next ones.
  void announce();
  /// Whether all actors know, and nothing is in flight.
  bool is_announced() const;
  /// The actors have these weights.
  void set_version(std::int64_t version);

 private:
  struct Request {
    int actor = 0;
    TicketRequest request;
  };

  bool begins(const HandOut& phase) const;
  bool has_tickets(const HandOut& phase) const;
  std::vector<Ticket> tickets_for(const Request& request);

  const bool cuts_;
  std::map<std::int64_t, HandOut> phases_;  // by step
  std::vector<Request> waiting_;
  std::vector<bool> told_;
  std::size_t told_count_ = 0;
  std::int64_t version_ = 0;
  bool announces_ = false;
  bool is_changed_ = false;  // since answers() found none
};

}  // namespace lie::planning
