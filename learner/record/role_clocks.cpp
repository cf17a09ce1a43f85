#include "learner/record/role_clocks.h"

#include <algorithm>

namespace lie {
namespace {

void keep_latest(std::map<std::int32_t, RoleClock>& latest, std::int32_t rank, RoleClock clock) {
  RoleClock& kept = latest[rank];
  kept.busy_seconds = std::max(kept.busy_seconds, clock.busy_seconds);
  kept.idle_seconds = std::max(kept.idle_seconds, clock.idle_seconds);
}

RoleClock total(const std::map<std::int32_t, RoleClock>& clocks) {
  RoleClock sum;
  for (const auto& [rank, clock] : clocks) {
    sum.busy_seconds += clock.busy_seconds;
    sum.idle_seconds += clock.idle_seconds;
  }
  return sum;
}

}  // namespace

std::vector<std::pair<std::string, RoleClock>> RoleClocks::advance(
    std::span<const ScoredGroup> groups) {
  const RoleClock actors_before = total(actors_), workers_before = total(reward_workers_);
  for (const ScoredGroup& group : groups) {
    for (const auto& [actor, clock] : group.rollout.actor_clocks)
      keep_latest(actors_, actor, clock);
    keep_latest(reward_workers_, group.reward_worker, group.reward_clock);
  }
  const auto since = [](RoleClock now, RoleClock before) {
    return RoleClock{now.busy_seconds - before.busy_seconds,
                     now.idle_seconds - before.idle_seconds};
  };
  return {{"actor", since(total(actors_), actors_before)},
          {"reward_worker", since(total(reward_workers_), workers_before)}};
}

}  // namespace lie
