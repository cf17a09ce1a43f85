// The coordinator: hands tickets to the actors that ask, and collects what comes back.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "common/comm/backoff.h"
#include "common/comm/ticket_desk.h"
#include "common/rollout.h"
#include "common/stream.h"
#include "learner/hand_out.h"

namespace lie {

/// Takes a group as it is finished.
using TakeGroup = std::function<void(ScoredGroup)>;

/// Answers the actors through one phase after another; a phase is a list of tickets. One thread.
class Coordinator {
 public:
  /// Keeps references to desk and source. `actors`: how many the desk has. `holds_back`: called
  /// while groups are waited for; once it is true, groups that have not begun stay. May be empty.
  Coordinator(TicketDesk& desk, int actors, PollableSource<ScoredGroup>& scored,
              std::function<bool()> holds_back = {});

  /// Hands out the tickets, which are whole groups, in parts where that keeps actors busy (see
  /// learner/hand_out.h), and gives every group to `take` as it comes back whole. `when_out`: what
  /// an actor that asks is told once all are handed out; empty: it waits for the next phase. Blocks
  /// until all groups are back. Throws Error if one comes twice.
  /// False, at once, where groups are held back: others may still be in flight.
  bool collect(std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out,
               const TakeGroup& take);

  /// Gives the groups in flight to `take` as they come back. Blocks until none is left.
  void await_in_flight(const TakeGroup& take);

  /// Tells every actor that has not been told in the phase before: new weights follow by weight
  /// sync (kWeights), or there will be no more tickets (kFinish). Blocks until all have asked.
  void announce(Assignment::Kind kind);

 private:
  bool answer_waiting_actors(std::optional<Assignment::Kind> when_out);
  bool take_one(const TakeGroup& take);
  void serve(std::optional<Assignment::Kind> when_out, const TakeGroup& take);

  TicketDesk& desk_;
  PollableSource<ScoredGroup>& scored_;
  std::function<bool()> holds_back_;
  std::vector<bool> told_;  // [actors] knows what comes after the tickets
  HandOut phase_;
  Backoff backoff_;
};

}  // namespace lie
