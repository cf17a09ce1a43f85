#include "tools/run/roles/runtime.h"

#include <utility>

#include "common/base/stream.h"
#include "common/comm/actor_relay.h"
#include "common/comm/channel.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/rollout/group_assembler.h"
#include "model/weight_sync/weight_transports.h"
#include "model/weights/weights.h"
#include "rewards/reward_worker.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/roles/role_runners.h"
#include "tools/run/roles/role_threads.h"
#include "tools/run/roles/scoring_source.h"
#include "tools/run/roles/transport.h"

namespace lie {

namespace {

/// Runs the actor of a process that also learns, on a thread and with operators of its own.
void act_beside_learner(const TrainConfig& config, const RunStart& start, const RoleLayout& layout,
                        LocalWeightSync& weights, const ActorTransport& transport) {
  const auto operators = make_operators(config.model, layout.threads(transport.rank, Role::kActor),
                                        {}, layout.gpu(transport.rank));
  const auto receiver =
      weights.receiver(trained_config(config.model, start.model_directory), *operators);
  run_actor_role(config, start, *operators, *receiver, transport);
}

}  // namespace

void run_in_one_process(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const RoleLayout& layout, EarlyStop& stop) {
  BoundedQueue<RolloutGroup> rollouts(kQueuedMessages);
  BoundedQueue<ScoredGroup> scored(kQueuedMessages);
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
    act_beside_learner(config, start, layout, weights,
                       {*tickets, rollouts, 0, [&] { roles.check(); }});
  });
  roles.start([&] {
    GroupAssembler groups(rollouts);
    run_reward_worker(scoring_options(config), text_decoder(start),
                      {groups, scored, 0, [&] { roles.check(); }});
  });
  roles.run([&] {
    LearnerTransport transport{*learners, layout.threads(0, Role::kLearner)};
    transport.weight_sender = [&](const LearnerWeights& own) { return weights.sender(own); };
    transport.has_own_actor = true;
    run_learner_0_role(config, start, std::move(prompts), transport, {ticket_queue, 1, scored},
                       stop);
  });
}

namespace {

/// Returns the size of the copy of the weights that the actors of a host share; 0: they share none.
std::size_t host_copy_bytes(const TrainConfig& config, const RunStart& start) {
  if (!config.roles.share_weights || !can_share_weights(config.model)) return 0;
  const auto elements = shared_weight_elements(trained_config(config.model, start.model_directory));
  return static_cast<std::size_t>(elements) * sizeof(float);
}

void act(Job& job, const TrainConfig& config, const RunStart& start, const RoleLayout& layout,
         MpiWeightSync& weights) {
  const auto tickets = mpi_ticket_client(job, layout.learners.front());
  MpiSink<RolloutGroup> rollouts(job, Tag::kRollouts, layout.reward_workers);
  const auto operators = make_operators(config.model, layout.threads(job.rank(), Role::kActor),
                                        weights.memory(), layout.gpu(job.rank()));
  const auto receiver =
      weights.receiver(trained_config(config.model, start.model_directory), *operators);
  run_actor_role(config, start, *operators, *receiver,
                 {*tickets, rollouts, job.rank(), [&job] { job.poll_progress(); }});
}

void score(Job& job, const TrainConfig& config, const RunStart& start, const RoleLayout& layout) {
  MpiSource<RolloutGroup> parts(job, Tag::kRollouts, static_cast<int>(layout.actors.size()));
  GroupAssembler rollouts(parts);
  MpiSink<ScoredGroup> scored(job, Tag::kScored, {layout.learners.front()});
  run_reward_worker(scoring_options(config), text_decoder(start),
                    {rollouts, scored, job.rank(), [&job] { job.poll_progress(); }});
}

void learn_and_coordinate(Job& job, const TrainConfig& config, const RunStart& start,
                          RunPrompts prompts, const RoleLayout& layout,
                          const LearnerTransport& transport, PollableSource<ScoredGroup>& scored,
                          EarlyStop& stop) {
  const auto ticket_queue = mpi_ticket_queue(job, layout.actors);
  run_learner_0_role(config, start, std::move(prompts), transport,
                     {*ticket_queue, static_cast<int>(layout.actors.size()), scored}, stop);
}

void learn(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
           const RoleLayout& layout, const MakeWeightSender& make_sender, EarlyStop& stop) {
  const auto learners = mpi_collective(job, layout.learners, Tag::kLearnerGroup);
  const LearnerTransport transport{.learners = *learners,
                                   .threads = layout.threads(job.rank(), Role::kLearner),
                                   .device_collective =
                                       [&job](Collective& host, Operators& operators) {
                                         return device_collective(job, host, operators);
                                       },
                                   .local_gpu = layout.gpu(job.rank()),
                                   .weight_sender = make_sender,
                                   .has_own_actor = layout.is_colocated(),
                                   .poll_progress = [&job] { job.poll_progress(); }};
  if (learners->rank() > 0) {
    run_learner_role(config, start, transport);
  } else if (layout.has(job.rank(), Role::kRewardWorker)) {
    // Without a rank for reward workers, learner 0 scores the groups that it receives.
    MpiSource<RolloutGroup> parts(job, Tag::kRollouts, static_cast<int>(layout.actors.size()));
    GroupAssembler rollouts(parts);
    Scorer scorer(scoring_options(config),
                  {.rank = job.rank(), .poll_progress = [&job] { job.poll_progress(); }});
    ScoringSource scored(rollouts, [&, decode = text_decoder(start)](RolloutGroup group) {
      return score_group(scorer, std::move(group), decode);
    });
    learn_and_coordinate(job, config, start, std::move(prompts), layout, transport, scored, stop);
    scorer.finish();
  } else {
    MpiSource<ScoredGroup> scored(job, Tag::kScored,
                                  static_cast<int>(layout.reward_workers.size()));
    learn_and_coordinate(job, config, start, std::move(prompts), layout, transport, scored, stop);
  }
}

/// The actor generates on a thread of its own. This thread learns, calls MPI and relays the actor's
/// messages.
void learn_and_act(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                   const RoleLayout& layout, EarlyStop& stop) {
  ActorRelay relay(job, layout.learners.front(), layout.reward_workers);
  LocalWeightSync weights(config.weight_sync, allows_shared_policy(config),
                          [&job] { job.poll_progress(); });
  RoleThreads roles;
  roles.poisons(relay);
  roles.poisons(weights);
  roles.start([&] {
    act_beside_learner(config, start, layout, weights,
                       {relay.tickets(), relay.rollouts(), job.rank(), [&] { roles.check(); }});
  });
  roles.run([&] {
    learn(
        job, config, start, std::move(prompts), layout,
        [&](const LearnerWeights& own) { return weights.sender(own); }, stop);
    relay.finish();
  });
}

}  // namespace

void run_over_mpi(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                  const RoleLayout& layout, EarlyStop& stop) {
  const bool learns = layout.has(job.rank(), Role::kLearner);
  if (layout.is_colocated()) {
    if (learns) return learn_and_act(job, config, start, std::move(prompts), layout, stop);
    return score(job, config, start, layout);
  }
  MpiWeightSync weights(job, layout, config.weight_sync, host_copy_bytes(config, start));
  if (learns) {
    learn(
        job, config, start, std::move(prompts), layout,
        [&](const LearnerWeights& own) { return weights.sender(own); }, stop);
  } else if (layout.has(job.rank(), Role::kActor)) {
    act(job, config, start, layout, weights);
  } else {
    score(job, config, start, layout);
  }
}

}  // namespace lie
