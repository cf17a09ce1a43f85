#include "learner/schedule/dispatcher.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <ranges>

#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "common/base/fault.h"

namespace lie {
namespace {

/// Returns L_ref. An unknown length counts as the longest of all.
double expected_tokens(const Ticket& group) {
  const double length = group.prompt.reference_length;
  return length >= 0 ? length : std::numeric_limits<double>::infinity();
}

/// Returns share `i` of `total` among `shares`, which differ by at most one.
std::int64_t even_share(std::int64_t total, std::int64_t i, std::int64_t shares) {
  return total * (i + 1) / shares - total * i / shares;
}

}  // namespace

// The longest groups begin first, because a step waits for a long response that begins last.
// Each part of a group prefills the prompt once more. So groups are cut only if complete ones
// would give the busiest actor at least a third more samples than an even share.
// Then each actor's share is an even share of the samples, and groups are cut at the end of a
// share: an actor prefills at most one prompt more than its share. Otherwise shares are even in
// groups. When fewer groups are left than actors, an actor gets at most as many samples of a group
// as it has free slots, or an even share of the samples left: the end of a step is cut finer than
// its start.
HandOut::HandOut(std::deque<Ticket> groups, std::size_t actors, bool cuts)
    : groups_(std::move(groups)), cuts_(cuts), share_(actors) {
  std::ranges::stable_sort(groups_, std::greater(), expected_tokens);
  std::int64_t largest = 0;
  for (const Ticket& group : groups_) {
    samples_left_ += group.samples;
    largest = std::max<std::int64_t>(largest, group.samples);
  }
  const std::int64_t count = std::ssize(groups_), shares = std::ssize(share_);
  const std::int64_t with_complete_groups = divided_up(count, shares) * largest;
  is_cut_ = cuts_ && 4 * divided_up(samples_left_, shares) <= 3 * with_complete_groups;
  for (std::int64_t i = 0; i < shares; ++i) {
    share_[static_cast<std::size_t>(i)] =
        is_cut_ ? even_share(samples_left_, i, shares) : even_share(count, i, shares) * largest;
  }
}

std::vector<Ticket> HandOut::next(int actor, TicketRequest request, bool begins,
                                  std::int64_t version) {
  std::vector<Ticket> handed;
  std::int64_t& share = share_[static_cast<std::size_t>(actor)];
  // Near the end of the phase, samples beyond the free slots could begin earlier on other actors.
  std::int64_t slots =
      request.free_slots + std::min(request.spare, samples_left_ / (2 * std::ssize(share_)));
  while (!done() && share > 0 && (begins || is_within_group())) {
    const std::int64_t samples = samples_for(share, slots);
    if (!handed.empty() && samples > slots) break;
    for (std::int64_t i = 0; i < samples; ++i) pass_fault_point("response");
    Ticket ticket = cut_off(static_cast<std::int32_t>(samples));
    if (ticket.policy_version == Ticket::kAnyVersion) ticket.policy_version = version;
    InFlight& group = in_flight_[ticket.group];
    group.version = ticket.policy_version;
    group.holders.emplace_back(actor, samples);
    handed.push_back(std::move(ticket));
    share -= samples;
    slots -= samples;
  }
  return handed;
}

/// Returns how many samples of the first group to give an actor that may hold `share` more.
std::int64_t HandOut::samples_for(std::int64_t share, std::int64_t slots) const {
  std::int64_t samples = groups_.front().asked().count;
  if (is_cut_) samples = std::min(samples, share);
  const std::int64_t actors = std::ssize(share_);
  if (!cuts_ || std::ssize(groups_) >= actors) return samples;
  return std::min(samples, std::max(slots, divided_up(samples_left_, actors)));
}

Ticket HandOut::cut_off(std::int32_t samples) {
  samples_left_ -= samples;
  const auto [first, count] = groups_.front().asked();
  Ticket next = groups_.front();
  if (samples < next.samples) next.fragment = {first, samples};
  groups_.front().fragment = {first + samples, count - samples};
  if (samples == count) groups_.pop_front();
  return next;
}

// Parts are cut off from the front, so only the first may have begun.
bool HandOut::has_more_to_begin() const {
  return groups_.size() > (is_within_group() ? std::size_t{1} : std::size_t{0});
}

void HandOut::end(const Ticket& group) {
  const auto known = in_flight_.extract(group.group);
  if (known.empty()) {
    fail("group {} came back twice: this is a defect of the transport, please report it",
         group.group);
  }
  std::int64_t handed = 0;
  for (const auto& [actor, samples] : known.mapped().holders) {
    share_[static_cast<std::size_t>(actor)] += samples;
    handed += samples;
  }
  if (group.fragment.count > 0 || handed != group.samples) {
    fail("group {} came back in fragments: this is a defect of the transport, please report it",
         group.group);
  }
}

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

/// The rest of a group that has begun belongs to the weights of its first fragment.
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
