#include "tools/run/config/role_layout.h"

#include <utility>

#include "common/base/error.h"
#include "common/comm/role_plan.h"
#include "tools/run/config/devices.h"

namespace lie {

Placement placement_of(const TrainConfig& config) {
  const RolesOptions& roles = config.roles;
  if (roles.placement != Placement::kAuto) return roles.placement;
  const bool is_open = roles.actors == 0 && roles.learners == 0;
  const bool has_whole_weights = config.trainer.zero_stage < 3;
  return is_on_gpu(config.model) && is_open && has_whole_weights && allows_shared_policy(config)
             ? Placement::kColocated
             : Placement::kSeparate;
}

RoleLayout layout_of(const TrainConfig& config, std::vector<RankPlace> places) {
  RolesOptions roles = config.roles;
  roles.placement = placement_of(config);
  RoleLayout layout = plan_roles(roles, std::move(places), config.trainer.gradient_shards);
  if (config.trainer.zero_stage == 3 && layout.is_colocated() && layout.learners.size() > 1) {
    fail(
        "update.zero_stage is 3 and roles.placement colocated: an actor generates with all "
        "weights, "
        "which stage 3 divides among the learners; set update.zero_stage to 2, or "
        "roles.placement to separate");
  }
  return layout;
}

}  // namespace lie
