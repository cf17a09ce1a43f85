// The roles of a run on given ranks, by its config and device.
#pragma once

#include <vector>

#include "common/comm/roles.h"
#include "tools/run/config/train_config.h"

namespace lie {

/// Returns roles.placement, with auto decided: colocated on GPUs, unless numbers of actors or
/// learners are set, or actors cannot compute with the learner's weights (allows_shared_policy(),
/// or ZeRO stage 3).
Placement placement_of(const TrainConfig& config);

/// Assigns the roles of a run to ranks at `places`. Throws Error as plan_roles() does, or if the
/// placement does not go with update.zero_stage.
RoleLayout layout_of(const TrainConfig& config, std::vector<RankPlace> places);

}  // namespace lie
