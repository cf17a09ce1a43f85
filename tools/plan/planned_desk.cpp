#include "tools/plan/planned_desk.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace lie::planning {

void PlannedDesk::add(std::deque<Ticket> tickets) {
  const std::int64_t step = tickets.front().step;
  phases_.emplace(step, HandOut(std::move(tickets), told_.size(), cuts_));
  is_changed_ = true;
}

void PlannedDesk::ask(int actor, TicketRequest request) {
  waiting_.push_back({actor, request});
  is_changed_ = true;
}

void PlannedDesk::take_back(const Ticket& group) {
  const auto phase = phases_.find(group.step);
  phase->second.end(group);
  if (phase->second.all_ended()) phases_.erase(phase);
  is_changed_ = true;
}

std::vector<TicketQueueAnswer> PlannedDesk::answers(bool tells_weights) {
  std::vector<TicketQueueAnswer> given;
  if (!std::exchange(is_changed_, false)) return given;
  std::vector<Request> still_waiting;
  for (const Request& request : waiting_) {
    const bool has_some = std::ranges::any_of(
        phases_ | std::views::values, [this](const HandOut& phase) { return has_tickets(phase); });
    TicketQueueAnswer answer{request.actor, {}};
    if (has_some) answer.tickets = tickets_for(request);
    if (answer.tickets.empty() && (has_some || !tells_weights)) {
      still_waiting.push_back(request);
      continue;
    }
    if (answer.tickets.empty()) {
      told_[static_cast<std::size_t>(request.actor)] = true;
      ++told_count_;
    }
    given.push_back(std::move(answer));
  }
  waiting_ = std::move(still_waiting);
  return given;
}

void PlannedDesk::announce() {
  announces_ = true;
  is_changed_ = true;
}

bool PlannedDesk::is_announced() const {
  return told_count_ == told_.size() &&
         std::ranges::none_of(phases_ | std::views::values, &HandOut::in_flight);
}

void PlannedDesk::set_version(std::int64_t version) {
  version_ = version;
  announces_ = false;
  told_.assign(told_.size(), false);
  told_count_ = 0;
  is_changed_ = true;
}

bool PlannedDesk::begins(const HandOut& phase) const {
  if (!phase.has_more_to_begin()) return false;
  if (phase.policy_version() == Ticket::kAnyVersion) return !announces_;
  return phase.policy_version() == version_;
}

bool PlannedDesk::has_tickets(const HandOut& phase) const {
  return phase.is_within_group() || begins(phase);
}

std::vector<Ticket> PlannedDesk::tickets_for(const Request& request) {
  for (HandOut& phase : phases_ | std::views::values) {
    if (!has_tickets(phase)) continue;
    auto tickets = phase.next(request.actor, request.request, begins(phase), version_);
    if (!tickets.empty()) return tickets;
  }
  return {};
}

}  // namespace lie::planning
