#include "learner/schedule/dispatcher.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "common/base/error.h"

namespace lie {

void Dispatcher::add(std::deque<Ticket> tickets) {
  std::map<std::int64_t, std::deque<Ticket>> by_version;
  for (Ticket& ticket : tickets) by_version[ticket.policy_version].push_back(std::move(ticket));
  for (auto& [version, same_version] : by_version) {
    const StepPhase phase = phase_of(same_version.front());
    tickets_.emplace(phase, HandOut(std::move(same_version), actors_, !in_flight_weights_));
  }
}

std::vector<Ticket> Dispatcher::next(const WaitingActor& waiting) {
  if (waiting.request.free_slots == 0) return {};
  for (HandOut& tickets : tickets_ | std::views::values) {
    if (!may_hand_out(tickets)) continue;
    auto next = tickets.next(waiting.actor, waiting.request, may_begin(tickets),
                             version_.value_or(Ticket::kAnyVersion));
    if (!next.empty()) return next;
  }
  return {};
}

bool Dispatcher::may_begin(const HandOut& tickets) const {
  if (is_held_ || !tickets.has_more_to_begin()) return false;
  if (announces_ && !version_) return false;  // the first weights are yet to come
  if (tickets.policy_version() == Ticket::kAnyVersion) return !announces_;
  if (version_ && tickets.policy_version() < *version_) {
    fail(
        "groups for the weights of step {} are left under those of step {}: this is a defect, "
        "please report it",
        tickets.policy_version(), *version_);
  }
  return !version_ || tickets.policy_version() == *version_;
}

/// The rest of a group that has begun belongs to the weights of its first part.
bool Dispatcher::may_hand_out(const HandOut& tickets) const {
  return tickets.is_within_group() || may_begin(tickets);
}

void Dispatcher::end(const Ticket& group) {
  const auto [begin, end] = tickets_.equal_range(phase_of(group));
  const auto found = std::find_if(
      begin, end, [&](const auto& entry) { return entry.second.is_in_flight(group.group); });
  if (found == end) {
    fail("group {} of step {} came back twice: this is a defect of the transport, please report it",
         group.group, group.step);
  }
  found->second.end(group);
  if (found->second.all_ended()) tickets_.erase(found);
}

bool Dispatcher::all_handed_out() const {
  return std::ranges::none_of(tickets_ | std::views::values,
                              [this](const HandOut& tickets) { return may_hand_out(tickets); });
}

bool Dispatcher::has_more_to_begin(StepPhase phase) const {
  const auto [begin, end] = tickets_.equal_range(phase);
  return std::any_of(begin, end,
                     [](const auto& entry) { return entry.second.has_more_to_begin(); });
}

bool Dispatcher::has_more_to_begin() const {
  return std::ranges::any_of(tickets_ | std::views::values, &HandOut::has_more_to_begin);
}

std::int64_t Dispatcher::in_flight() const {
  std::int64_t groups = 0;
  for (const HandOut& tickets : tickets_ | std::views::values) groups += tickets.in_flight();
  return groups;
}

std::optional<std::int64_t> Dispatcher::version_in_flight(StepPhase phase,
                                                          std::int64_t group) const {
  const auto [begin, end] = tickets_.equal_range(phase);
  for (const auto& [of, tickets] : std::ranges::subrange(begin, end)) {
    if (tickets.is_in_flight(group)) return tickets.version_of(group);
  }
  return std::nullopt;
}

}  // namespace lie
