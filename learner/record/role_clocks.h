// Where each role's time went within a step, from the clocks that travel with the groups.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// Differences of the ranks' running clocks from step to step.
class RoleClocks {
 public:
  /// Reads the clocks of these groups; returns busy and idle seconds since the last call, summed
  /// over the ranks of each role: {"actor", ...}, {"reward_worker", ...}.
  std::vector<std::pair<std::string, RoleClock>> advance(std::span<const ScoredGroup> groups);

 private:
  using ByRank = std::map<std::int32_t, RoleClock>;
  ByRank actors_, reward_workers_;  // as last seen
};

}  // namespace lie
