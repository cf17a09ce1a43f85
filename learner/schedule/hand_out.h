// What an actor that asks is handed: whole groups where there are plenty, parts of groups where
// actors would stay idle otherwise.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// Deals one phase's groups to the actors: of one step and purpose, for one policy version, those
/// with the longest L_ref first. Changes no sampled token (invariant E3).
class HandOut {
 public:
  /// `groups`: whole; `actors` >= 1. `cuts`: whether groups may be handed out in parts.
  HandOut(std::deque<Ticket> groups, std::size_t actors, bool cuts = true);

  /// Whether all samples are handed out.
  bool done() const { return groups_.empty(); }
  /// Groups that are handed out and have not come back.
  std::int64_t in_flight() const { return std::ssize(on_their_way_); }
  bool is_in_flight(std::int64_t group) const { return on_their_way_.contains(group); }
  /// Of the weights under which a group in flight was handed out.
  std::int64_t version_of(std::int64_t group) const { return on_their_way_.at(group).version; }
  /// Whether all groups have come back.
  bool all_back() const { return done() && in_flight() == 0; }
  /// Whether a group is handed out in part.
  bool is_within_group() const { return !done() && is_in_flight(groups_.front().group); }
  /// Whether there are groups of which nothing has been handed out.
  bool has_more_to_begin() const;
  /// Of the tickets that are left, of which there are some.
  std::int64_t policy_version() const { return groups_.front().policy_version; }
  /// The next tickets for an actor, as far as it has room but at least one: a group may be larger
  /// than any room. None while it holds its share. Without `begins` only what is left of a group
  /// that is handed out in part. Those for any version become ones for `version`.
  std::vector<Ticket> next(int actor, TicketRequest request, bool begins = true,
                           std::int64_t version = Ticket::kAnyVersion);
  /// A group has come back. Throws Error if it is not on its way, or not whole.
  void take_back(const Ticket& group);

 private:
  std::int64_t samples_for(std::int64_t free, std::int64_t room) const;
  Ticket cut_off(std::int32_t samples);

  std::deque<Ticket> groups_;      // not handed out; of the first perhaps only the end
  std::int64_t samples_left_ = 0;  // of them
  const bool cuts_;
  bool cut_ = false;                // along the actors' shares
  std::vector<std::int64_t> free_;  // [actors] samples that each may hold besides what it holds
  struct OnItsWay {
    std::int64_t version = Ticket::kAnyVersion;
    std::vector<std::pair<int, std::int64_t>> holders;  // actor, samples
  };
  std::map<std::int64_t, OnItsWay> on_their_way_;  // by group
};

}  // namespace lie
