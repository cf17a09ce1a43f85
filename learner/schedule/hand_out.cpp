#include "learner/schedule/hand_out.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>

#include "common/base/divided_up.h"
#include "common/base/error.h"
#include "common/base/fault.h"

namespace lie {
namespace {

/// L_ref; where it is not known a response may be the longest of all.
double expected_tokens(const Ticket& group) {
  const double length = group.prompt.reference_length;
  return length >= 0 ? length : std::numeric_limits<double>::infinity();
}

/// Share `i` of `whole` among `shares`, which differ by one at most.
std::int64_t even_share(std::int64_t whole, std::int64_t i, std::int64_t shares) {
  return whole * (i + 1) / shares - whole * i / shares;
}

}  // namespace

// The rule. The longest first: a long response that begins last is what a step waits for. A part
// costs its actor the prompt once more, so groups are cut only where whole ones would leave the
// busiest actor with a third more samples than an even share, or more. Then each actor's share is
// an even share of the samples and groups are cut at its end: an actor reads at most one prompt
// more than its share of prompts. Otherwise shares are even in groups. When fewer groups are left
// than actors, no actor is given more of one than it can begin, or than an even share of what is
// left: the end of a step is cut finer than its beginning.
HandOut::HandOut(std::deque<Ticket> groups, std::size_t actors, bool cuts)
    : groups_(std::move(groups)), cuts_(cuts), free_(actors) {
  std::ranges::stable_sort(groups_, std::greater(), expected_tokens);
  std::int64_t largest = 0;
  for (const Ticket& group : groups_) {
    samples_left_ += group.samples;
    largest = std::max<std::int64_t>(largest, group.samples);
  }
  const std::int64_t count = std::ssize(groups_), shares = std::ssize(free_);
  const std::int64_t with_whole_groups = divided_up(count, shares) * largest;
  cut_ = cuts_ && 4 * divided_up(samples_left_, shares) <= 3 * with_whole_groups;
  for (std::int64_t i = 0; i < shares; ++i) {
    free_[static_cast<std::size_t>(i)] =
        cut_ ? even_share(samples_left_, i, shares) : even_share(count, i, shares) * largest;
  }
}

std::vector<Ticket> HandOut::next(int actor, TicketRequest request, bool begins,
                                  std::int64_t version) {
  std::vector<Ticket> handed;
  std::int64_t& free = free_[static_cast<std::size_t>(actor)];
  // What is held to spare could begin elsewhere when nothing is left.
  std::int64_t room =
      request.room + std::min(request.spare, samples_left_ / (2 * std::ssize(free_)));
  while (!done() && free > 0 && (begins || is_within_group())) {
    const std::int64_t samples = samples_for(free, room);
    if (!handed.empty() && samples > room) break;
    for (std::int64_t i = 0; i < samples; ++i) pass_fault_point("response");
    Ticket ticket = cut_off(static_cast<std::int32_t>(samples));
    if (ticket.policy_version == Ticket::kAnyVersion) ticket.policy_version = version;
    OnItsWay& group = on_their_way_[ticket.group];
    group.version = ticket.policy_version;
    group.holders.emplace_back(actor, samples);
    handed.push_back(std::move(ticket));
    free -= samples;
    room -= samples;
  }
  return handed;
}

// Of the first group, for an actor that may hold `free` more.
std::int64_t HandOut::samples_for(std::int64_t free, std::int64_t room) const {
  std::int64_t samples = groups_.front().asked().count;
  if (cut_) samples = std::min(samples, free);
  const std::int64_t actors = std::ssize(free_);
  if (!cuts_ || std::ssize(groups_) >= actors) return samples;
  return std::min(samples, std::max(room, divided_up(samples_left_, actors)));
}

Ticket HandOut::cut_off(std::int32_t samples) {
  samples_left_ -= samples;
  const auto [first, count] = groups_.front().asked();
  Ticket part = groups_.front();
  if (samples < part.samples) part.part = {first, samples};
  groups_.front().part = {first + samples, count - samples};
  if (samples == count) groups_.pop_front();
  return part;
}

// Parts are cut off from the front, so only the first may have begun.
bool HandOut::has_more_to_begin() const {
  return groups_.size() > (is_within_group() ? std::size_t{1} : std::size_t{0});
}

void HandOut::take_back(const Ticket& group) {
  const auto known = on_their_way_.extract(group.group);
  if (known.empty()) {
    fail("group {} came back twice: this is a defect of the transport, please report it",
         group.group);
  }
  std::int64_t handed = 0;
  for (const auto& [actor, samples] : known.mapped().holders) {
    free_[static_cast<std::size_t>(actor)] += samples;
    handed += samples;
  }
  if (group.part.count > 0 || handed != group.samples) {
    fail("group {} came back in part: this is a defect of the transport, please report it",
         group.group);
  }
}

}  // namespace lie
