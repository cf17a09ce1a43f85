// How the groups of a phase are dealt to actors: complete groups where there are plenty, parts of
// groups where actors would stay idle otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// Deals groups of one phase and one policy version, those with the longest L_ref first. Changes no
/// sampled token (invariant E3).
class HandOut {
 public:
  /// `groups`: a ticket for each complete group. `actors` >= 1. `cuts`: whether groups may be
  /// handed out in parts.
  HandOut(std::deque<Ticket> groups, std::size_t actors, bool cuts = true);

  /// Whether all samples are handed out.
  bool done() const { return groups_.empty(); }
  /// The number of groups that have begun and not ended.
  std::int64_t in_flight() const { return std::ssize(in_flight_); }
  bool is_in_flight(std::int64_t group) const { return in_flight_.contains(group); }
  /// The policy version under which a group in flight was handed out.
  std::int64_t version_of(std::int64_t group) const { return in_flight_.at(group).version; }
  bool all_ended() const { return done() && in_flight() == 0; }
  /// Whether a group is handed out in part.
  bool is_within_group() const { return !done() && is_in_flight(groups_.front().group); }
  bool has_more_to_begin() const;
  /// The policy version of the remaining tickets. Requires !done().
  std::int64_t policy_version() const { return groups_.front().policy_version; }
  /// Returns the next tickets for an actor: as many as fit its free slots, but at least one, since
  /// a group may need more slots than an actor has. Returns none while the actor holds its share.
  /// `begins`: whether further groups may begin, besides the rest of one that is handed out in
  /// part. Tickets for any version become tickets for `version`.
  std::vector<Ticket> next(int actor, TicketRequest request, bool begins = true,
                           std::int64_t version = Ticket::kAnyVersion);
  /// Ends a group, whose actors may then hold as much more. Throws Error if the group is not in
  /// flight or not complete.
  void end(const Ticket& group);

 private:
  std::int64_t samples_for(std::int64_t share, std::int64_t slots) const;
  Ticket cut_off(std::int32_t samples);

  std::deque<Ticket> groups_;      // not handed out; of the first perhaps only its last samples
  std::int64_t samples_left_ = 0;  // in groups_
  const bool cuts_;
  bool is_cut_ = false;              // whether groups are cut at the end of each actor's share
  std::vector<std::int64_t> share_;  // [actors] samples that each may hold besides those it holds
  struct InFlight {
    std::int64_t version = Ticket::kAnyVersion;
    std::vector<std::pair<int, std::int64_t>> holders;  // actor, samples
  };
  std::map<std::int64_t, InFlight> in_flight_;  // by group
};

}  // namespace lie
