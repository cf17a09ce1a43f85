// lie_cluster plan: memory of each role, and expected step time, of a config before it runs.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/arguments/config_command.h"

namespace lie {

struct PlanArguments : ConfigArguments {
  std::vector<std::int64_t> ranks = {4};
  std::int64_t ranks_per_host = 0;
  std::int64_t gpus_per_host = 0;  // 0: unknown
  std::int64_t gpu_gib = 0;        // memory of each GPU; 0: unknown
  std::string run;                 // a run directory; empty: run.directory, if it has a log
  bool json = false;
};

/// Prints the plan to `out`. Throws Error if an input is missing.
void plan(const PlanArguments& arguments, std::ostream& out);

}  // namespace lie
