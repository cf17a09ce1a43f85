// What an actor that asks is handed: whole groups where there are plenty, parts of groups where
// actors would stay idle otherwise.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "common/rollout.h"

namespace lie {

/// Deals one phase's groups to the actors. Changes no sampled token (invariant E3).
class HandOut {
 public:
  /// `groups`: whole; `actors` >= 1.
  HandOut(std::deque<Ticket> groups, std::size_t actors);

  /// Whether all samples are handed out.
  bool done() const { return groups_.empty(); }
  /// Whether all groups have come back.
  bool all_back() const { return done() && on_their_way_.empty(); }
  /// The next tickets for an actor, as far as it has room but at least one: a group may be larger
  /// than any room. None while it holds its share.
  std::vector<Ticket> next(int actor, TicketRequest request);
  /// A group has come back. Throws Error if it is not on its way, or not whole.
  void take_back(const Ticket& group);
  /// Forgets the groups of which nothing has been handed out; returns whether there were any.
  bool hold_back();

 private:
  std::int64_t samples_for(std::int64_t free, std::int64_t room) const;
  Ticket cut_off(std::int32_t samples);

  std::deque<Ticket> groups_;       // not handed out; of the first perhaps only the end
  std::int64_t samples_left_ = 0;   // of them
  bool cut_ = false;                // along the actors' shares
  std::vector<std::int64_t> free_;  // [actors] samples that each may hold besides what it holds
  using Holders = std::vector<std::pair<int, std::int64_t>>;  // actor, samples
  std::map<std::int64_t, Holders> on_their_way_;              // by group
};

}  // namespace lie
