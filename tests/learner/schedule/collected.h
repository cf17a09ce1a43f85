// The groups of a phase of the coordinator, for tests.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "learner/schedule/coordinator.h"

namespace lie::test {

/// All groups that answer the tickets, in canonical order.
inline std::vector<ScoredGroup> collected(Coordinator& coordinator, std::deque<Ticket> tickets,
                                          std::optional<Assignment::Kind> when_out) {
  std::vector<ScoredGroup> groups;
  coordinator.collect(std::move(tickets), when_out,
                      [&](ScoredGroup group) { groups.push_back(std::move(group)); });
  std::ranges::sort(groups, {}, [](const ScoredGroup& g) { return g.rollout.ticket.group; });
  return groups;
}

}  // namespace lie::test
