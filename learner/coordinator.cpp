#include "learner/coordinator.h"

#include <algorithm>
#include <utility>

#include "common/comm/backoff.h"
#include "common/error.h"
#include "common/fault.h"

namespace lie {

Coordinator::Coordinator(TicketDesk& desk, int actors, PollableSource<ScoredGroup>& scored,
                         std::function<bool()> holds_back)
    : desk_(desk),
      scored_(scored),
      holds_back_(std::move(holds_back)),
      in_flight_(static_cast<std::size_t>(actors), 0),
      told_(static_cast<std::size_t>(actors), false) {}

bool Coordinator::collect(std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out,
                          const TakeGroup& take) {
  // An actor holds at most its fair share at a time, or the first to ask would take everything.
  const auto actors = std::ssize(in_flight_);
  const std::int64_t quota = (std::ssize(tickets) + actors - 1) / actors;
  Backoff backoff;
  for (auto left = std::ssize(tickets); left > 0;) {
    if (holds_back_ && holds_back_() && !tickets.empty()) return false;
    bool progress = answer_waiting_actors(tickets, quota, when_out);
    if (take_one(take)) {
      --left;
      progress = true;
    }
    progress ? backoff.reset() : backoff.pause();
  }
  return true;
}

bool Coordinator::take_one(const TakeGroup& take) {
  auto group = scored_.try_receive();
  if (!group) return false;
  take_back(group->rollout.ticket);
  take(std::move(*group));
  return true;
}

void Coordinator::await_in_flight(const TakeGroup& take) {
  for (Backoff backoff; !actor_of_.empty();) take_one(take) ? backoff.reset() : backoff.pause();
}

std::vector<ScoredGroup> Coordinator::collect(std::deque<Ticket> tickets,
                                              std::optional<Assignment::Kind> when_out) {
  std::vector<ScoredGroup> groups;
  collect(std::move(tickets), when_out,
          [&](ScoredGroup group) { groups.push_back(std::move(group)); });
  std::ranges::sort(groups, {}, [](const ScoredGroup& g) { return g.rollout.ticket.group; });
  return groups;
}

void Coordinator::take_back(const Ticket& ticket) {
  const auto holder = actor_of_.extract(ticket.group);
  if (holder.empty()) {
    fail("group {} came back twice: this is a defect of the transport, please report it",
         ticket.group);
  }
  --in_flight_[static_cast<std::size_t>(holder.mapped())];
}

bool Coordinator::answer_waiting_actors(std::deque<Ticket>& tickets, std::int64_t quota,
                                        std::optional<Assignment::Kind> when_out) {
  bool answered = false;
  for (const WaitingActor& waiting : desk_.waiting_actors()) {
    Assignment answer{Assignment::Kind::kTickets, hand_out(tickets, waiting, quota)};
    if (answer.tickets.empty()) {
      if (!tickets.empty() || !when_out) continue;
      answer.kind = *when_out;
      told_[static_cast<std::size_t>(waiting.actor)] = true;
    }
    desk_.answer(waiting.actor, std::move(answer));
    answered = true;
  }
  return answered;
}

// The next tickets as far as their samples fit, at least one: a group may be larger than any room.
std::vector<Ticket> Coordinator::hand_out(std::deque<Ticket>& tickets, const WaitingActor& to,
                                          std::int64_t quota) {
  std::vector<Ticket> handed;
  std::int64_t& held = in_flight_[static_cast<std::size_t>(to.actor)];
  std::int64_t room = to.request.room;
  while (!tickets.empty() && held < quota && (handed.empty() || tickets.front().samples <= room)) {
    room -= tickets.front().samples;
    ++held;
    actor_of_[tickets.front().group] = to.actor;
    pass_fault_point("ticket");
    handed.push_back(std::move(tickets.front()));
    tickets.pop_front();
  }
  return handed;
}

void Coordinator::announce(Assignment::Kind kind) {
  Backoff backoff;
  std::deque<Ticket> none;
  while (std::ranges::find(told_, false) != told_.end()) {
    answer_waiting_actors(none, 0, kind) ? backoff.reset() : backoff.pause();
  }
  told_.assign(told_.size(), false);
}

}  // namespace lie
