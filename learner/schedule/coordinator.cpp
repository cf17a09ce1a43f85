#include "learner/schedule/coordinator.h"

#include <algorithm>
#include <ranges>

#include "common/base/error.h"

namespace lie {

Coordinator::Coordinator(TicketQueue& ticket_queue, int actors, PollableSource<ScoredGroup>& scored,
                         std::function<bool()> holds_back, bool in_flight_weights)
    : ticket_queue_(ticket_queue),
      scored_(scored),
      holds_back_(std::move(holds_back)),
      in_flight_weights_(in_flight_weights),
      told_(static_cast<std::size_t>(actors), false) {}

void Coordinator::add(std::deque<Ticket> tickets) {
  std::map<std::int64_t, std::deque<Ticket>> by_version;
  for (Ticket& ticket : tickets) by_version[ticket.policy_version].push_back(std::move(ticket));
  for (auto& [version, of_version] : by_version) {
    const StepPart part = part_of(of_version.front());
    phases_.emplace(part, HandOut(std::move(of_version), told_.size(), !in_flight_weights_));
  }
}

bool Coordinator::collect(StepPart part, std::optional<Assignment::Kind> when_out,
                          const TakeGroup& take) {
  return serve_until([&] { return !phases_.contains(part); }, [&] { return is_held_back(part); },
                     when_out, take);
}

bool Coordinator::collect_until(const std::function<bool()>& is_complete, const TakeGroup& take) {
  const auto some_is_held_back = [&] {
    return std::ranges::any_of(phases_ | std::views::values, &HandOut::has_more_to_begin);
  };
  return serve_until(is_complete, some_is_held_back, std::nullopt, take);
}

bool Coordinator::serve_until(const std::function<bool()>& is_complete,
                              const std::function<bool()>& is_held_back,
                              std::optional<Assignment::Kind> when_out, const TakeGroup& take) {
  while (!is_complete()) {
    is_held_ = holds_back_ && holds_back_();
    if (is_held_ && is_held_back()) return false;
    serve(when_out, take);
  }
  is_held_ = false;
  return true;
}

bool Coordinator::collect(std::deque<Ticket> tickets, std::optional<Assignment::Kind> when_out,
                          const TakeGroup& take) {
  if (tickets.empty()) return true;
  const StepPart part = part_of(tickets.front());
  add(std::move(tickets));
  return collect(part, when_out, take);
}

void Coordinator::poll_progress(const TakeGroup& take) {
  if (!version_) return;
  is_held_ = holds_back_ && holds_back_();
  while (take_one(take)) continue;
  answer_waiting_actors(std::nullopt);
  is_held_ = false;
}

void Coordinator::await_in_flight(const TakeGroup& take) {
  while (in_flight() > 0) serve(std::nullopt, take);
}

std::int64_t Coordinator::drain(const TakeGroup& take) {
  while (auto group = scored_.receive()) take_in(std::move(*group), take);
  return in_flight();
}

void Coordinator::announce(Assignment::Kind kind, const TakeGroup& take) {
  announces_ = true;
  const auto waits = [&] { return !in_flight_weights_ && in_flight() > 0; };
  while (std::ranges::find(told_, false) != told_.end() || waits()) serve(kind, take);
  announces_ = false;
  told_.assign(told_.size(), false);
}

void Coordinator::serve(std::optional<Assignment::Kind> when_out, const TakeGroup& take) {
  const bool answered = answer_waiting_actors(when_out);
  take_one(take) || answered ? backoff_.reset() : backoff_.pause();
}

void Coordinator::take_in(ScoredGroup group, const TakeGroup& take) {
  take_back(group.rollout.ticket);
  take(std::move(group));
}

bool Coordinator::take_one(const TakeGroup& take) {
  auto group = scored_.try_receive();
  if (!group) return false;
  take_in(std::move(*group), take);
  return true;
}

void Coordinator::take_back(const Ticket& group) {
  auto [phase, end] = phases_.equal_range(part_of(group));
  const auto holds = [&](const auto& entry) { return entry.second.is_in_flight(group.group); };
  phase = std::find_if(phase, end, holds);
  if (phase == end) {
    fail("group {} of step {} came back twice: this is a defect of the transport, please report it",
         group.group, group.step);
  }
  phase->second.take_back(group);
  if (phase->second.all_back()) phases_.erase(phase);
}

/// Whether another of its groups may begin.
bool Coordinator::begins(const HandOut& phase) const {
  if (is_held_ || !phase.has_more_to_begin()) return false;
  if (announces_ && !version_) return false;  // the first weights
  if (phase.policy_version() == Ticket::kAnyVersion) return !announces_;
  if (version_ && phase.policy_version() < *version_) {
    fail(
        "groups for the weights of step {} are left under those of step {}: this is a defect, "
        "please report it",
        phase.policy_version(), *version_);
  }
  return !version_ || phase.policy_version() == *version_;
}

/// What is left of a group belongs to the weights of its first part.
bool Coordinator::has_tickets(const HandOut& phase) const {
  return phase.is_within_group() || begins(phase);
}

bool Coordinator::all_out() const {
  return std::ranges::none_of(phases_ | std::views::values,
                              [this](const HandOut& phase) { return has_tickets(phase); });
}

std::int64_t Coordinator::in_flight() const {
  std::int64_t groups = 0;
  for (const HandOut& phase : phases_ | std::views::values) groups += phase.in_flight();
  return groups;
}

std::optional<std::int64_t> Coordinator::version_in_flight(StepPart part,
                                                           std::int64_t group) const {
  const auto [begin, end] = phases_.equal_range(part);
  for (const auto& [of, phase] : std::ranges::subrange(begin, end)) {
    if (phase.is_in_flight(group)) return phase.version_of(group);
  }
  return std::nullopt;
}

bool Coordinator::is_held_back(StepPart part) const {
  const auto [begin, end] = phases_.equal_range(part);
  return std::any_of(begin, end,
                     [](const auto& entry) { return entry.second.has_more_to_begin(); });
}

std::vector<Ticket> Coordinator::tickets_for(const WaitingActor& waiting) {
  if (waiting.request.room == 0) return {};
  for (HandOut& phase : phases_ | std::views::values) {
    if (!has_tickets(phase)) continue;
    auto tickets = phase.next(waiting.actor, waiting.request, begins(phase),
                              version_.value_or(Ticket::kAnyVersion));
    if (!tickets.empty()) return tickets;
  }
  return {};
}

bool Coordinator::answer_waiting_actors(std::optional<Assignment::Kind> when_out) {
  bool answered = false;
  for (const WaitingActor& waiting : ticket_queue_.waiting_actors()) {
    Assignment answer{Assignment::Kind::kTickets, tickets_for(waiting)};
    if (answer.tickets.empty()) {
      const bool is_told = all_out() && when_out;
      if (!is_told && waiting.request.room > 0) continue;
      if (is_told) answer.kind = *when_out;
      told_[static_cast<std::size_t>(waiting.actor)] = is_told;
    }
    answered = answered || waiting.request.room > 0;
    ticket_queue_.answer(waiting.actor, std::move(answer));
  }
  return answered;
}

}  // namespace lie
