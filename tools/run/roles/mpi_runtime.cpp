#include "tools/run/roles/runtime.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/comm/channel.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/host_weights.h"
#include "common/rollout/whole_groups.h"
#include "model/weights/weights.h"
#include "tools/run/config/devices.h"
#include "tools/run/roles/learner_state.h"
#include "tools/run/roles/role_runners.h"
#include "tools/run/roles/scoring_source.h"
#include "tools/run/roles/shared_policy.h"

namespace lie {
namespace {

/// Whether actors that are on a learner's GPU are to compute with its weights.
bool may_lend(const TrainConfig& config, const Operators& operators) {
  return lends_policy(config) && !operators.place().is_host();
}

std::unique_ptr<Collective> loan_group(Job& job, const RoleLayout& layout) {
  std::vector<int> members = layout.learners;
  members.insert(members.end(), layout.actors.begin(), layout.actors.end());
  return mpi_collective(job, std::move(members), Tag::kLoanGroup);
}

LoanMembers loan_members(Job& job, const RoleLayout& layout, Collective& group,
                         const Operators& operators) {
  return {group, static_cast<int>(layout.learners.size()), device_name(job, operators)};
}

/// Collective over the world.
WeightHolders weight_holders(Job& job, const TrainConfig& config, const RunStart& start,
                             const RoleLayout& layout) {
  if (!config.roles.share_weights || !can_share_weights(config.model)) return own_weights(layout);
  const auto elements = shared_weight_elements(load_model_config(start.model_directory));
  return share_weights(job, layout, static_cast<std::size_t>(elements) * sizeof(float));
}

/// Learner 0 and the actors that receive for their host; of an actor that does not, itself alone.
std::unique_ptr<Collective> weight_group(Job& job, const RoleLayout& layout,
                                         const WeightHolders& holders) {
  if (holders.mine && !holders.mine->writes()) return solo_collective();
  std::vector<int> members = {layout.learners.front()};
  members.insert(members.end(), holders.receivers.begin(), holders.receivers.end());
  return mpi_collective(job, std::move(members), Tag::kWeightGroup);
}

DeviceGroup on_devices(Job& job) {
  return [&job](Collective& host, Operators& operators) {
    return device_collective(job, host, operators);
  };
}

void act(Job& job, const TrainConfig& config, const RunStart& start, const RoleLayout& layout,
         const WeightHolders& holders) {
  const auto tickets = mpi_ticket_client(job, layout.learners.front());
  MpiSink<RolloutGroup> rollouts(job, Tag::kRollouts, layout.reward_workers);
  const auto group = weight_group(job, layout, holders);
  const auto borrow = [&](const ModelConfig& model, Operators& operators) {
    if (!may_lend(config, operators)) return std::optional<Transformer>();
    const auto loans = loan_group(job, layout);
    return borrow_policy(loan_members(job, layout, *loans, operators), model, operators);
  };
  run_actor_role(config, start,
                 {*tickets, rollouts, *group, job.rank(), layout.threads(job.rank(), Role::kActor),
                  [&job] { job.poll_progress(); }, holders.mine.get(), on_devices(job),
                  turn_on_host(layout, job.rank()), borrow});
}

void score(Job& job, const TrainConfig& config, const RunStart& start, const RoleLayout& layout) {
  MpiSource<RolloutGroup> parts(job, Tag::kRollouts, static_cast<int>(layout.actors.size()));
  WholeGroups rollouts(parts);
  MpiSink<ScoredGroup> scored(job, Tag::kScored, {layout.learners.front()});
  run_reward_worker_role(config, start,
                         {rollouts, scored, job.rank(), [&job] { job.poll_progress(); }});
}

void learn_and_coordinate(Job& job, const TrainConfig& config, const RunStart& start,
                          RunPrompts prompts, const RoleLayout& layout,
                          const LearnerTransport& transport, PollableSource<ScoredGroup>& scored,
                          const WeightHolders& holders, EarlyStop& stop) {
  const auto ticket_queue = mpi_ticket_queue(job, layout.actors);
  const auto group = weight_group(job, layout, holders);
  run_learner_0_role(config, start, std::move(prompts), transport,
                     {*ticket_queue, static_cast<int>(layout.actors.size()), scored, *group}, stop);
}

void learn(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
           const RoleLayout& layout, const WeightHolders& holders, EarlyStop& stop) {
  const auto learners = mpi_collective(job, layout.learners, Tag::kLearnerGroup);
  const auto lend = [&](const std::shared_ptr<LearnerState>& training) {
    const Operators& operators = *training->operators;
    if (!may_lend(config, operators)) return false;
    const auto loans = loan_group(job, layout);
    if (!lend_policy(loan_members(job, layout, *loans, operators), training->policy)) return false;
    training->updater->lend();
    return true;
  };
  const LearnerTransport transport{*learners, layout.threads(job.rank(), Role::kLearner),
                                   on_devices(job), turn_on_host(layout, job.rank()), lend};
  if (learners->rank() > 0) {
    run_learner_role(config, start, transport);
  } else if (layout.has(job.rank(), Role::kRewardWorker)) {
    // No rank is left for a reward worker, and learner 0 waits for groups anyway.
    MpiSource<RolloutGroup> parts(job, Tag::kRollouts, static_cast<int>(layout.actors.size()));
    WholeGroups rollouts(parts);
    Scorer scorer(scoring_options(config),
                  {.rank = job.rank(), .poll_progress = [&job] { job.poll_progress(); }});
    ScoringSource scored(rollouts, [&, decode = text_decoder(start)](RolloutGroup group) {
      return score_group(scorer, std::move(group), decode);
    });
    learn_and_coordinate(job, config, start, std::move(prompts), layout, transport, scored, holders,
                         stop);
    scorer.finish();
  } else {
    MpiSource<ScoredGroup> scored(job, Tag::kScored,
                                  static_cast<int>(layout.reward_workers.size()));
    learn_and_coordinate(job, config, start, std::move(prompts), layout, transport, scored, holders,
                         stop);
  }
}

}  // namespace

void run_over_mpi(Job& job, const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                  const RoleLayout& layout, EarlyStop& stop) {
  const WeightHolders holders = weight_holders(job, config, start, layout);
  if (layout.has(job.rank(), Role::kLearner)) {
    learn(job, config, start, std::move(prompts), layout, holders, stop);
  } else if (layout.has(job.rank(), Role::kActor)) {
    act(job, config, start, layout, holders);
  } else {
    score(job, config, start, layout);
  }
}

}  // namespace lie
