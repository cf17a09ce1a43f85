#include "tools/run/roles/learner_state.h"

#include "common/process/log.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/update/optimizer.h"
#include "tools/run/config/devices.h"

namespace lie {

LearnerState::LearnerState(const TrainConfig& config, const RunStart& start,
                           const LearnerTransport& transport)
    : operators(make_operators(config.model, transport.threads, {}, transport.local_gpu)),
      learners(transport.device_collective(transport.learners, *operators)),
      weights(load_weights(config.model.path, *operators,
                           held_range(parameter_layout(load_model_config(config.model.path)),
                                      learners->rank(), learners->size()))),
      optimizer(config.optimizer, weights, own_shard(weights, *learners)),
      policy(weights) {
  weights.set_end_of_sequence_ids(start.end_of_sequence_ids);
  if (config.policy_loss.kl_coefficient > 0) {
    reference.emplace(Transformer::fixed(config.model.path, *operators));
    if (transport.learners.rank() == 0) {
      Log("learner", 0)
          .info("reference policy: {}", describe_held(config.model, reference->packed_size()));
    }
  }
  updater = std::make_unique<PolicyUpdater>(
      UpdateOptions{config.update, config.policy_loss, config.rollout.sampling.temperature},
      UpdateParts{weights, policy, reference ? &*reference : nullptr, optimizer, *learners});
  if (learners->size() > 1) updater->share_weights();
  start_sha256 = weights_sha256(*operators, updater->weights());
  if (!start.from_checkpoint) return;
  saved = load_checkpoint(start.model_directory, weights, optimizer);
  updater->share_weights();
}

std::unique_ptr<WeightSender> make_weight_sender(const LearnerTransport& transport,
                                                 const std::shared_ptr<LearnerState>& state) {
  auto sender =
      transport.weight_sender({.policy = {state, &state->policy},
                               .operators = *state->operators,
                               .weights = state->operators->span(state->updater->weights()),
                               .learners = *state->learners});
  if (sender->shares_memory()) state->updater->share_with_actors();
  return sender;
}

}  // namespace lie
