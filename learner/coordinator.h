// The coordinator: hands tickets to the actors that ask, and collects what comes back.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

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
  /// Keeps references to desk and source. `actors`: how many the desk has. `attend`: called while
  /// groups are waited for; may be empty.
  Coordinator(TicketDesk& desk, int actors, PollableSource<ScoredGroup>& scored,
              std::function<void()> attend = {});

  /// Hands out the tickets, which are whole groups, in parts where that keeps actors busy (see
  /// learner/hand_out.h), and gives every group to `take` as it comes back whole. `when_out`: what
  /// an actor that asks is told once all are handed out; empty: it waits for the next phase. Blocks
  /// until all groups are back. Throws Error if one comes twice.
  void collect(std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out,
               const TakeGroup& take);
  /// The same, with the groups in canonical order.
  std::vector<ScoredGroup> collect(std::deque<Ticket> tickets,
                                   std::optional<Assignment::Kind> when_out);

  /// Tells every actor that has not been told in the phase before: new weights follow by weight
  /// sync (kWeights), or there will be no more tickets (kFinish). Blocks until all have asked.
  void announce(Assignment::Kind kind);

 private:
  bool answer_waiting_actors(HandOut& groups, std::optional<Assignment::Kind> when_out);

  TicketDesk& desk_;
  PollableSource<ScoredGroup>& scored_;
  std::function<void()> attend_;
  std::vector<bool> told_;  // [actors] knows what comes after the tickets
};

}  // namespace lie
