// The coordinator: hands tickets to the actors that ask, and collects what comes back.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/stream.h"
#include "common/comm/backoff.h"
#include "common/comm/ticket_queue.h"
#include "common/rollout/rollout.h"
#include "learner/schedule/hand_out.h"

namespace lie {

/// Takes a group as it is finished.
using TakeGroup = std::function<void(ScoredGroup)>;

/// The groups of a step, or of the evaluation behind it. Ordered as they are needed.
using StepPart = std::pair<std::int64_t, Purpose>;
inline StepPart part_of(const Ticket& ticket) { return {ticket.step, ticket.purpose}; }

/// Answers the actors. What it hands out is queued as phases: tickets of one step and purpose, for
/// one policy version. One thread.
class Coordinator {
 public:
  /// Keeps references to desk and source. `actors`: how many the desk has. `holds_back`: asked
  /// while groups are waited for; as long as it is true, no group begins. May be empty.
  /// `in_flight_weights`: actors take new weights with responses in flight; then groups are handed
  /// out whole, each of one actor.
  Coordinator(TicketQueue& ticket_queue, int actors, PollableSource<ScoredGroup>& scored,
              std::function<bool()> holds_back = {}, bool in_flight_weights = false);

  /// Queues tickets of one step and purpose, which are whole groups; earlier steps come first.
  /// Those that name a policy version are handed out under it alone.
  void add(std::deque<Ticket> tickets);

  /// The actors have these weights from now on. Until it is called, any ticket is handed out.
  void set_version(std::int64_t policy_version) { version_ = policy_version; }

  /// What collect() does, once and without waiting, for whoever works long between two. Nothing
  /// before set_version().
  void poll_progress(const TakeGroup& take);

  /// Hands out tickets, in parts where that keeps actors busy (see learner/schedule/hand_out.h),
  /// and gives every group to `take` as it comes back whole, whichever step it is of. `when_out`:
  /// what an actor that asks is told once all are handed out; empty: it waits. Blocks until all
  /// groups queued for `part` are back. Throws Error if one comes twice. False, at once, where
  /// groups of `part` are held back: others may still be in flight.
  bool collect(StepPart part, std::optional<Assignment::Kind> when_out, const TakeGroup& take);

  /// The same until `is_complete`, which is asked between two groups; false, at once, where any
  /// group is held back.
  bool collect_until(const std::function<bool()>& is_complete, const TakeGroup& take);

  /// The same as the first for these tickets, which are queued first.
  bool collect(std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out,
               const TakeGroup& take);

  /// Of the weights under which a group that is in flight was handed out; empty for any other.
  std::optional<std::int64_t> version_in_flight(StepPart part, std::int64_t group) const;

  /// No group begins any more.
  void hold() { is_held_ = true; }
  /// Gives the groups in flight to `take` as they come back. Blocks until none is left.
  void await_in_flight(const TakeGroup& take);

  /// Tells every actor that has not been told yet: new weights follow by weight sync (kWeights), or
  /// there will be no more tickets (kFinish). Before it, all that is queued for the weights they
  /// have is handed out. Blocks until all have asked and, unless weights change in flight, nothing
  /// is in flight.
  void announce(Assignment::Kind kind, const TakeGroup& take = {});

  /// Gives `take` what still comes in once the actors know that the run is over; returns how many
  /// groups were in flight then that do not come: they waited for weights. Blocks until the source
  /// ends.
  std::int64_t drain(const TakeGroup& take);

 private:
  bool begins(const HandOut& phase) const;
  bool has_tickets(const HandOut& phase) const;
  bool all_out() const;
  std::int64_t in_flight() const;
  bool is_held_back(StepPart part) const;
  bool serve_until(const std::function<bool()>& is_complete,
                   const std::function<bool()>& is_held_back,
                   std::optional<Assignment::Kind> when_out, const TakeGroup& take);
  std::vector<Ticket> tickets_for(const WaitingActor& waiting);
  bool answer_waiting_actors(std::optional<Assignment::Kind> when_out);
  void take_back(const Ticket& group);
  void take_in(ScoredGroup group, const TakeGroup& take);
  bool take_one(const TakeGroup& take);
  void serve(std::optional<Assignment::Kind> when_out, const TakeGroup& take);

  TicketQueue& ticket_queue_;
  PollableSource<ScoredGroup>& scored_;
  std::function<bool()> holds_back_;
  const bool in_flight_weights_;
  std::vector<bool> told_;  // [actors] knows what comes after the tickets
  std::multimap<StepPart, HandOut> phases_;
  std::optional<std::int64_t> version_;
  bool announces_ = false;  // new weights: groups for any version wait for them
  bool is_held_ = false;    // no group begins
  Backoff backoff_;
};

}  // namespace lie
