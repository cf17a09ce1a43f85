// A plan as a table for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "tools/plan/step_time.h"
#include "tools/run/start/start_messages.h"

namespace lie::planning {

/// One layout of roles, and the step time that is expected of it.
struct Forecast {
  RoleLayout layout;
  StepTime time;
  bool is_configured = false;  // by roles.*; otherwise the layout that train chooses
};

/// What is expected of one number of ranks.
struct RanksPlan {
  std::int64_t ranks = 0;
  std::vector<RoleMemory> memory;   // of the last forecast's layout
  std::vector<Forecast> forecasts;  // the automatic layout, then the configured one if there is one
};

struct Plan {
  std::string config;
  std::vector<SummaryEntry>
      entries;  // what is planned, and whether it was measured, stated or assumed
  Costs costs;
  std::vector<RanksPlan> ranks;
};

/// Returns the entries and a table, 80 columns wide.
std::string text_of(const Plan& plan);

Json json_of(const Plan& plan);

}  // namespace lie::planning
