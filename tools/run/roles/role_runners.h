// One function per role: makes its parts from the config and runs its loop to the end of the run.
#pragma once

#include <cstdint>
#include <filesystem>

#include "learner/schedule/early_stop.h"
#include "learner/schedule/logged_steps.h"
#include "rewards/reward_worker.h"
#include "tools/run/config/train_config.h"
#include "tools/run/roles/transport.h"
#include "tools/run/start/check_inputs.h"
#include "tools/run/start/run_start.h"

namespace lie {

/// Runs an actor that generates with the policy of `weights`, which computes with `operators`.
/// `model` is the directory of its config and tokenizer.
void run_actor_on(const std::filesystem::path& model, const RolloutOptions& rollout,
                  std::uint64_t seed, Operators& operators, WeightReceiver& weights,
                  const ActorTransport& transport);
/// Runs an actor of a training run likewise.
void run_actor_role(const TrainConfig& config, const RunStart& start, Operators& operators,
                    WeightReceiver& weights, const ActorTransport& transport);

/// Runs learner 0, which also coordinates and keeps the run's curves and checkpoints. If `stop`
/// requests it, the run ends early on all ranks, with a checkpoint after its last step.
void run_learner_0_role(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                        const LearnerTransport& transport, const CoordinatorTransport& coordination,
                        EarlyStop& stop);

/// Runs any other learner.
void run_learner_role(const TrainConfig& config, const RunStart& start,
                      const LearnerTransport& transport);

/// Returns a function that decodes token ids with the tokenizer of the model that the run starts
/// from.
DecodeText text_decoder(const RunStart& start);
/// Returns text_decoder(), or an empty function if coverage counts no words.
TextOfResponse text_of_response(const TrainConfig& config, const RunStart& start);

}  // namespace lie
