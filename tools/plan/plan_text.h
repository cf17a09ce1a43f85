// A plan as people and programs read it.
#pragma once

#include <string>
#include <vector>

#include "tools/plan/search.h"
#include "tools/run/start/announcements.h"

namespace lie::planning {

/// The splits of so many ranks, the fastest first.
struct RanksPlan {
  std::int64_t ranks = 0;
  std::vector<RoleMemory> memory;  // of the fastest
  std::vector<Split> splits;
};

struct Plan {
  std::string config;
  std::vector<Fact> facts;  // what is planned, what of it was measured, what is assumed
  Costs costs;
  std::vector<RanksPlan> ranks;
};

/// Facts and a table, 80 columns wide. Of each number of ranks the fastest split, the automatic,
/// the configured and, where only one number was asked for, some of the others.
std::string text_of(const Plan& plan);

Json json_of(const Plan& plan);

}  // namespace lie::planning
