// lie_cluster plan: memory, expected step time and idle shares of a config before it runs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace lie {

struct PlanArguments {
  std::string config;
  std::vector<std::string> overrides;
  std::vector<std::int64_t> ranks = {4};
  std::int64_t ranks_per_host = 0;
  std::int64_t cores = -1;                // of a host; -1: as many as here, of a GPU's ranks 0
  std::string costs;                      // a file; empty: measured here
  std::string lengths;                    // a run directory; empty: run.directory, if it holds any
  double median_tokens = 0, sigma = 0.7;  // of stated lengths; 0: not stated
  double bytes_per_second = 0;            // 0: assumed
  bool json = false;
};

/// Throws Error where something is missing, naming what would do instead.
void plan(const PlanArguments& arguments, std::ostream& out);

}  // namespace lie
