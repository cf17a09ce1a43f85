#include "tools/run/config/role_layout.h"

#include <utility>

#include "common/comm/role_plan.h"
#include "tools/run/config/devices.h"

namespace lie {

Placement placement_of(const TrainConfig& config) {
  const RolesOptions& roles = config.roles;
  if (roles.placement != Placement::kAuto) return roles.placement;
  const bool is_open = roles.actors == 0 && roles.learners == 0;
  return is_on_gpu(config.model) && is_open && allows_shared_policy(config) ? Placement::kColocated
                                                                            : Placement::kSeparate;
}

RoleLayout layout_of(const TrainConfig& config, std::vector<RankPlace> places) {
  RolesOptions roles = config.roles;
  roles.placement = placement_of(config);
  return plan_roles(roles, std::move(places), config.trainer.gradient_shards);
}

}  // namespace lie
