// What the learners have to do in a step, dealt as the program deals it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/plan/simulator.h"

namespace lie::planning {

/// Tokens of prompts and responses that each learner trains on, [updates][learners], epoch after
/// epoch.
std::vector<std::vector<std::int64_t>> update_tokens(std::span<const GroupLengths> groups,
                                                     const Workload& workload, int learners);

}  // namespace lie::planning
