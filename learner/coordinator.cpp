#include "learner/coordinator.h"

#include <algorithm>
#include <utility>

#include "common/comm/backoff.h"

namespace lie {

Coordinator::Coordinator(TicketDesk& desk, int actors, PollableSource<ScoredGroup>& scored,
                         std::function<void()> attend)
    : desk_(desk),
      scored_(scored),
      attend_(std::move(attend)),
      told_(static_cast<std::size_t>(actors), false) {}

void Coordinator::collect(std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out,
                          const TakeGroup& take) {
  auto left = std::ssize(tickets);
  HandOut groups(std::move(tickets), told_.size());
  for (Backoff backoff; left > 0;) {
    if (attend_) attend_();
    bool progress = answer_waiting_actors(groups, when_out);
    if (auto group = scored_.try_receive()) {
      groups.take_back(group->rollout.ticket);
      take(std::move(*group));
      --left;
      progress = true;
    }
    progress ? backoff.reset() : backoff.pause();
  }
}

std::vector<ScoredGroup> Coordinator::collect(std::deque<Ticket> tickets,
                                              std::optional<Assignment::Kind> when_out) {
  std::vector<ScoredGroup> groups;
  collect(std::move(tickets), when_out,
          [&](ScoredGroup group) { groups.push_back(std::move(group)); });
  std::ranges::sort(groups, {}, [](const ScoredGroup& g) { return g.rollout.ticket.group; });
  return groups;
}

bool Coordinator::answer_waiting_actors(HandOut& groups, std::optional<Assignment::Kind> when_out) {
  bool answered = false;
  for (const WaitingActor& waiting : desk_.waiting_actors()) {
    Assignment answer{Assignment::Kind::kTickets, groups.next(waiting.actor, waiting.request)};
    if (answer.tickets.empty()) {
      if (!groups.done() || !when_out) continue;
      answer.kind = *when_out;
      told_[static_cast<std::size_t>(waiting.actor)] = true;
    }
    desk_.answer(waiting.actor, std::move(answer));
    answered = true;
  }
  return answered;
}

void Coordinator::announce(Assignment::Kind kind) {
  Backoff backoff;
  HandOut none({}, told_.size());
  while (std::ranges::find(told_, false) != told_.end()) {
    answer_waiting_actors(none, kind) ? backoff.reset() : backoff.pause();
  }
  told_.assign(told_.size(), false);
}

}  // namespace lie
