#include "tools/run/roles/runtime.h"

#include <memory>
#include <utility>

#include "common/base/queue.h"
#include "common/comm/collective/thread_collective.h"
#include "common/rollout/whole_groups.h"
#include "tools/run/roles/learner_state.h"
#include "tools/run/roles/role_runners.h"
#include "tools/run/roles/role_threads.h"

namespace lie {
namespace {

constexpr std::size_t kGroupsAhead = 64;

/// The learner's policy on its way to the actor. It lives as long as this, whichever role fails.
class LentPolicy {
 public:
  void poisoned_by(RoleThreads& roles) {
    roles.poisons(operators_);
    roles.poisons(policy_);
  }
  /// By the learner; waits for the actor.
  void lend(std::shared_ptr<LearnerState> training) {
    training_ = std::move(training);
    policy_.send(training_->policy.beside(*operators_.receive().value()));
  }
  /// By the actor; waits for the learner.
  Transformer borrow(Operators& operators) {
    operators_.send(&operators);
    return std::move(policy_.receive().value());
  }

 private:
  std::shared_ptr<LearnerState> training_;
  BoundedQueue<Operators*> operators_{1};
  BoundedQueue<Transformer> policy_{1};
};

}  // namespace

void run_in_one_process(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const RoleLayout& layout, EarlyStop& stop) {
  BoundedQueue<RolloutGroup> rollouts(kGroupsAhead);
  BoundedQueue<ScoredGroup> scored(kGroupsAhead);
  LocalTicketQueue ticket_queue(1);
  ThreadGroup weight_group(2);  // learner, actor
  const auto learners = solo_collective();
  LentPolicy lent;
  RoleThreads roles;
  roles.poisons(rollouts);
  roles.poisons(scored);
  roles.poisons(ticket_queue);
  roles.poisons(weight_group);
  lent.poisoned_by(roles);
  roles.start([&] {
    const auto tickets = ticket_queue.client(0);
    const auto weights = weight_group.member(1);
    ActorTransport transport{
        *tickets, rollouts, *weights, 0, layout.threads(0, Role::kActor), [&] { roles.check(); }};
    if (lends_policy(config)) {
      transport.borrow_policy = [&](const ModelConfig&, Operators& operators) {
        return lent.borrow(operators);
      };
    }
    run_actor_role(config, start, transport);
  });
  roles.start([&] {
    WholeGroups groups(rollouts);
    run_reward_worker_role(config, start, {groups, scored, 0, [&] { roles.check(); }});
  });
  roles.run([&] {
    const auto weights = weight_group.member(0);
    LearnerTransport transport{*learners, layout.threads(0, Role::kLearner)};
    if (lends_policy(config)) {
      transport.lend_policy = [&](auto training) {
        lent.lend(std::move(training));
        return true;
      };
    }
    run_learner_0_role(config, start, std::move(prompts), transport,
                       {ticket_queue, 1, scored, *weights}, stop);
  });
}

}  // namespace lie
