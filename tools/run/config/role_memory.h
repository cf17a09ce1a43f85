// The memory of each role of a run, from its config and the ranks of its roles.
#pragma once

#include <string>
#include <vector>

#include "common/comm/roles.h"
#include "model/config/model_config.h"
#include "model/operators/operators.h"
#include "tools/run/config/memory_plan.h"
#include "tools/run/config/train_config.h"

namespace lie {

/// Memory of one process of a role.
struct RoleMemory {
  std::string role;
  MemoryPlan memory;
};
/// Returns the memory of learner 0 and, if there are actors, of one actor. Throws Error as
/// actor_memory() does.
std::vector<RoleMemory> memory_of_roles(const TrainConfig& config, const ModelConfig& model,
                                        const ComputeDTypes& dtypes, const RoleLayout& layout);

}  // namespace lie
