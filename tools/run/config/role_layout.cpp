#include "tools/run/config/role_layout.h"

#include <utility>

#include "common/comm/role_plan.h"

namespace lie {

Placement placement_of(const TrainConfig& config) {
  const RolesOptions& roles = config.roles;
  if (roles.placement != Placement::kAuto) return roles.placement;
  const bool is_open = roles.actors == 0 && roles.learners == 0;
  const bool on_gpus = config.model.device.starts_with("cuda");
  return on_gpus && is_open && allows_shared_policy(config) ? Placement::kColocated
                                                            : Placement::kSeparate;
}

RoleLayout layout_of(const TrainConfig& config, std::vector<RankPlace> places) {
  RolesOptions roles = config.roles;
  roles.placement = placement_of(config);
  return plan_roles(roles, std::move(places), config.trainer.gradient_shards);
}

}  // namespace lie
