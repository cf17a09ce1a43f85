#include "tools/run/worlds.h"

#include <utility>

#include "common/comm/thread_collective.h"
#include "common/queue.h"
#include "common/whole_groups.h"
#include "tools/run/players.h"
#include "tools/run/role_threads.h"

namespace lie {
namespace {

constexpr std::size_t kGroupsAhead = 64;

}  // namespace

void run_in_one_process(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const RoleLayout& layout, EarlyStop& stop) {
  BoundedQueue<RolloutGroup> rollouts(kGroupsAhead);
  BoundedQueue<ScoredGroup> scored(kGroupsAhead);
  LocalTicketDesk desk(1);
  ThreadGroup weight_group(2);  // learner, actor
  const auto learners = solo_collective();
  RoleThreads roles;
  roles.poisons(rollouts);
  roles.poisons(scored);
  roles.poisons(desk);
  roles.poisons(weight_group);
  roles.start([&] {
    const auto tickets = desk.client(0);
    const auto weights = weight_group.member(1);
    play_actor(
        config, start,
        {*tickets, rollouts, *weights, 0, layout.threads(0, Role::kActor), [&] { roles.check(); }});
  });
  roles.start([&] {
    WholeGroups groups(rollouts);
    play_reward_worker(config, start, {groups, scored, 0, [&] { roles.check(); }});
  });
  roles.run([&] {
    const auto weights = weight_group.member(0);
    play_learner_0(config, start, std::move(prompts),
                   {*learners, layout.threads(0, Role::kLearner)}, {desk, 1, scored, *weights},
                   stop);
  });
}

}  // namespace lie
