// The busy and idle time of the roles of a run.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/rollout/rollout.h"

namespace lie {

/// Busy and idle time of each role per step, from the cumulative clocks that are sent with the
/// groups.
class RoleClocks {
 public:
  /// Reads the clocks of `groups`. Returns the busy and idle seconds since the last call, summed
  /// over the ranks of each role: {"actor", ...}, {"reward_worker", ...}.
  std::vector<std::pair<std::string, RoleClock>> advance(std::span<const ScoredGroup> groups);

 private:
  using ByRank = std::map<std::int32_t, RoleClock>;
  ByRank actors_, reward_workers_;  // latest clock of each rank
};

}  // namespace lie
