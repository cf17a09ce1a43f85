#include "tools/run/roles/runtime.h"

#include <utility>

#include "common/base/queue.h"
#include "common/rollout/group_assembler.h"
#include "model/weight_sync/weight_transports.h"
#include "tools/run/config/devices.h"
#include "tools/run/roles/role_runners.h"
#include "tools/run/roles/role_threads.h"

namespace lie {
namespace {

constexpr std::size_t kGroupsAhead = 64;

}  // namespace

void run_in_one_process(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const RoleLayout& layout, EarlyStop& stop) {
  BoundedQueue<RolloutGroup> rollouts(kGroupsAhead);
  BoundedQueue<ScoredGroup> scored(kGroupsAhead);
  LocalTicketQueue ticket_queue(1);
  LocalWeightSync weights(config.weight_sync, allows_shared_policy(config));
  const auto learners = solo_collective();
  RoleThreads roles;
  roles.poisons(rollouts);
  roles.poisons(scored);
  roles.poisons(ticket_queue);
  roles.poisons(weights);
  roles.start([&] {
    const auto tickets = ticket_queue.client(0);
    const auto operators = make_operators(config.model, layout.threads(0, Role::kActor));
    const auto receiver = weights.receiver(load_model_config(start.model_directory), *operators);
    run_actor_role(config, start, *operators, *receiver,
                   {*tickets, rollouts, 0, [&] { roles.check(); }});
  });
  roles.start([&] {
    GroupAssembler groups(rollouts);
    run_reward_worker_role(config, start, {groups, scored, 0, [&] { roles.check(); }});
  });
  roles.run([&] {
    LearnerTransport transport{*learners, layout.threads(0, Role::kLearner)};
    transport.weight_sender = [&](const LearnerWeights& own) { return weights.sender(own); };
    run_learner_0_role(config, start, std::move(prompts), transport, {ticket_queue, 1, scored},
                       stop);
  });
}

}  // namespace lie
