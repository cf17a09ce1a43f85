// Hands out tickets to actors: which tickets an actor gets next, and which groups are in flight.
// Groups of a phase are dealt to actors as a whole if there are plenty, and in fragments if actors
// would stay idle otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"
#include "learner/schedule/tickets.h"

namespace lie {

/// Deals groups of one phase and one policy version, those with the longest L_ref first. Changes no
/// sampled token (invariant E3).
class HandOut {
 public:
  /// `groups`: a ticket for each complete group. `actors` >= 1. `cuts`: whether groups may be
  /// handed out in fragments.
  HandOut(std::deque<Ticket> groups, std::size_t actors, bool cuts = true);

  /// Returns whether all samples are handed out.
  bool done() const { return groups_.empty(); }
  /// Returns the number of groups that have begun and not ended.
  std::int64_t in_flight() const { return std::ssize(in_flight_); }
  bool is_in_flight(std::int64_t group) const { return in_flight_.contains(group); }
  /// Returns the policy version under which a group in flight was handed out.
  std::int64_t version_of(std::int64_t group) const { return in_flight_.at(group).version; }
  bool all_ended() const { return done() && in_flight() == 0; }
  /// Returns whether a group is handed out in fragments.
  bool is_within_group() const { return !done() && is_in_flight(groups_.front().group); }
  bool has_more_to_begin() const;
  /// Returns the policy version of the remaining tickets. Requires !done().
  std::int64_t policy_version() const { return groups_.front().policy_version; }
  /// Returns the next tickets for an actor: as many as fit its free slots, but at least one, since
  /// a group may need more slots than an actor has. Returns none while the actor holds its share.
  /// `begins`: whether further groups may begin, besides the rest of one that is handed out in
  /// fragments. Tickets for any version become tickets for `version`.
  std::vector<Ticket> next(int actor, TicketRequest request, bool begins = true,
                           std::int64_t version = Ticket::kAnyVersion);
  /// Ends a group, whose actors may then hold as much more. Throws Error if the group is not in
  /// flight or not complete.
  void end(const Ticket& group);

 private:
  std::int64_t samples_for(std::int64_t share, std::int64_t slots) const;
  Ticket cut_off(std::int32_t samples);

  std::deque<Ticket> groups_;      // not handed out; of the first perhaps only its last samples
  std::int64_t samples_left_ = 0;  // in groups_
  const bool cuts_;
  bool is_cut_ = false;              // whether groups are cut at the end of each actor's share
  std::vector<std::int64_t> share_;  // [actors] samples that each may hold besides those it holds
  struct InFlight {
    std::int64_t version = Ticket::kAnyVersion;
    std::vector<std::pair<int, std::int64_t>> holders;  // actor, samples
  };
  std::map<std::int64_t, InFlight> in_flight_;  // by group
};

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

  /// Returns the next tickets for an actor, in fragments of groups if that keeps actors busy. Empty
  /// if there are none for now.
  std::vector<Ticket> next(const WaitingActor& waiting);
  /// Ends a group in flight. Throws Error if it is not in flight or not complete.
  void end(const Ticket& group);

  /// Returns whether nothing can be handed out until another version is set or more is queued.
  bool all_handed_out() const;
  bool has_more_to_begin(StepPhase phase) const;
  /// Returns whether some group of any phase has not begun.
  bool has_more_to_begin() const;
  std::int64_t in_flight() const;
  /// Returns the policy version of a group in flight; empty for any other group.
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
