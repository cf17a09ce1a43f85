// Which tickets an actor is given next, and which groups are in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"
#include "learner/schedule/hand_out.h"
#include "learner/schedule/tickets.h"

namespace lie {

/// Hands out queued tickets in the order of their phases. Tickets that name a policy version are
/// handed out only while the actors have that version.
class Dispatcher {
 public:
  /// `in_flight_weights`: actors take new weights with responses in flight. Then each group is
  /// handed out undivided, to one actor.
  Dispatcher(int actors, bool in_flight_weights)
      : actors_(static_cast<std::size_t>(actors)), in_flight_weights_(in_flight_weights) {}

  /// Queues tickets of one phase, each for a complete group.
  void add(std::deque<Ticket> tickets);

  /// Sets the version of the weights that the actors have from now on. Before the first call,
  /// tickets of any version are handed out.
  void set_version(std::int64_t policy_version) { version_ = policy_version; }
  bool has_version() const { return version_.has_value(); }

  /// While held, no group begins. Rests of groups that have begun are handed out.
  void hold(bool is_held) { is_held_ = is_held; }
  /// While new weights are announced, groups for any version wait for them.
  void announce(bool announces) { announces_ = announces; }

  /// The next tickets for an actor, in parts of groups where that keeps actors busy
  /// (learner/schedule/hand_out.h). Empty if there are none for now.
  std::vector<Ticket> next(const WaitingActor& waiting);
  /// Ends a group in flight. Throws Error if it is not in flight or not complete.
  void end(const Ticket& group);

  /// Whether nothing can be handed out until another version is set or more is queued.
  bool all_handed_out() const;
  bool has_more_to_begin(StepPhase phase) const;
  /// Whether some group of any phase has not begun.
  bool has_more_to_begin() const;
  std::int64_t in_flight() const;
  /// The policy version under which a group in flight was handed out; empty for any other group.
  std::optional<std::int64_t> version_in_flight(StepPhase phase, std::int64_t group) const;

 private:
  bool may_begin(const HandOut& tickets) const;
  bool may_hand_out(const HandOut& tickets) const;

  std::size_t actors_;
  bool in_flight_weights_;
  std::multimap<StepPhase, HandOut> tickets_;  // an entry for each phase and policy version
  std::optional<std::int64_t> version_;
  bool announces_ = false;
  bool is_held_ = false;
};

}  // namespace lie
