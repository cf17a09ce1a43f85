// lie_cluster plan: memory, expected step time and idle shares of a config before it runs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tools/arguments/config_command.h"

namespace lie {

struct PlanArguments : ConfigArguments {
  std::vector<std::int64_t> ranks = {4};
  std::int64_t ranks_per_host = 0;
  std::int64_t cores = -1;  // of a host; -1: as many as here, or 0 on GPUs
  std::string costs;        // a file; empty: measured here
  std::string lengths;      // a run directory; empty: run.directory, if it holds responses
  double median_tokens = 0, sigma = 0.7;  // lengths are log-normal; 0: not used
  double bytes_per_second = 0;            // 0: assumed
  bool json = false;
};

/// Prints the plan to `out`. Throws Error if an input is missing, naming the argument that would
/// replace it.
void plan(const PlanArguments& arguments, std::ostream& out);

}  // namespace lie
