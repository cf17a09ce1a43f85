// Which of a number of ranks should play which role.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/plan/simulator.h"

namespace lie::planning {

/// How ranks are placed on hosts.
struct Machine {
  std::int64_t ranks_per_host = 0;  // 0: all on one
  std::int64_t cores = 0;           // of a host, which its ranks share; 0: none is shared
};

/// One way to split ranks, and what it leads to.
struct Split {
  RolesOptions roles;  // as the config would set them
  RoleLayout layout;
  Forecast forecast;
  bool is_automatic = false;   // what the program chooses where the config leaves it open
  bool is_configured = false;  // what this config, which sets some, leads to
};

/// What is the same in all splits.
struct Question {
  Workload workload;
  Costs costs;
  Lengths lengths;
  Machine machine;
  RolesOptions configured;
  std::int64_t set_threads = 0;  // model.threads
  bool shares_weights = false;
  std::int64_t steps = 0;  // to simulate
};

/// The layout of so many ranks. Throws Error as plan_roles does.
RoleLayout layout_of(const Question& question, const RolesOptions& roles, std::int64_t ranks);

/// Up to 6 ranks all splits; of more those that lead from the automatic one to the best by doubling
/// or halving learners or reward workers. The fastest first; the automatic and the configured are
/// among them. Throws Error if the configured roles do not fit.
std::vector<Split> splits_of(const Question& question, std::int64_t ranks);

}  // namespace lie::planning
