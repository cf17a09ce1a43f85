#include "learner/coordinator.h"

#include <algorithm>
#include <utility>

namespace lie {

Coordinator::Coordinator(TicketDesk& desk, int actors, PollableSource<ScoredGroup>& scored,
                         std::function<bool()> holds_back)
    : desk_(desk),
      scored_(scored),
      holds_back_(std::move(holds_back)),
      told_(static_cast<std::size_t>(actors), false),
      phase_({}, told_.size()) {}

bool Coordinator::collect(std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out,
                          const TakeGroup& take) {
  phase_ = HandOut(std::move(tickets), told_.size());
  while (!phase_.all_back()) {
    if (holds_back_ && holds_back_() && phase_.hold_back()) return false;
    serve(when_out, take);
  }
  return true;
}

void Coordinator::await_in_flight(const TakeGroup& take) {
  while (!phase_.all_back()) serve(std::nullopt, take);
}

void Coordinator::serve(std::optional<Assignment::Kind> when_out, const TakeGroup& take) {
  const bool answered = answer_waiting_actors(when_out);
  take_one(take) || answered ? backoff_.reset() : backoff_.pause();
}

bool Coordinator::take_one(const TakeGroup& take) {
  auto group = scored_.try_receive();
  if (!group) return false;
  phase_.take_back(group->rollout.ticket);
  take(std::move(*group));
  return true;
}

bool Coordinator::answer_waiting_actors(std::optional<Assignment::Kind> when_out) {
  bool answered = false;
  for (const WaitingActor& waiting : desk_.waiting_actors()) {
    Assignment answer{Assignment::Kind::kTickets, phase_.next(waiting.actor, waiting.request)};
    if (answer.tickets.empty()) {
      if (!phase_.done() || !when_out) continue;
      answer.kind = *when_out;
      told_[static_cast<std::size_t>(waiting.actor)] = true;
    }
    desk_.answer(waiting.actor, std::move(answer));
    answered = true;
  }
  return answered;
}

void Coordinator::announce(Assignment::Kind kind) {
  while (std::ranges::find(told_, false) != told_.end()) {
    answer_waiting_actors(kind) ? backoff_.reset() : backoff_.pause();
  }
  told_.assign(told_.size(), false);
}

}  // namespace lie
