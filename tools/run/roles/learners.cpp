#include "tools/run/roles/learners.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "actors/kv_cache_size.h"
#include "common/base/identity.h"
#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/process/log.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/record/metric_condition.h"
#include "model/weights/weights.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/start/input_record.h"

namespace lie {

namespace {

namespace fs = std::filesystem;

/// Returns the reference policy: the one that the run began with or, if it trains an adapter, the
/// base without the adapter, which takes no further memory for weights.
Transformer reference_policy(const TrainConfig& config, ShardedTrainer& trainer,
                             Operators& operators, bool is_first) {
  const Log log("learner", 0);
  if (trains_adapter(config.model.lora)) {
    if (is_first) log.info("reference policy: the base without the adapter, in the same memory");
    return trainer.policy().without_adapter();
  }
  Transformer reference = Transformer::fixed(config.model.path, operators);
  if (is_first) {
    log.info("reference policy: {}", describe_held(config.model, reference.packed_size()));
  }
  return reference;
}

}  // namespace

LearnerState::LearnerState(const TrainConfig& config, const RunStart& start,
                           const LearnerTransport& transport)
    : operators(make_operators(config.model, transport.threads, {}, transport.local_gpu)),
      learners(transport.device_collective(transport.learners, *operators)),
      trainer(config.trainer, config.optimizer,
              start_weights(config.model, static_cast<std::uint64_t>(config.run.seed),
                            learners->rank(), learners->size(), *operators),
              *learners) {
  trainer.weights().set_end_of_sequence_ids(start.end_of_sequence_ids);
  log_choices(Log("learner", learners->rank()), *operators, PassKind::kTraining,
              trainer.weights().config());
  if (transport.has_own_actor && allows_shared_policy(config)) {
    trainer.policy().share_cache_memory(
        kv_cache_bytes(trainer.weights().config(), config.rollout, *operators));
  }
  if (config.policy_loss.kl_coefficient > 0) {
    reference.emplace(
        reference_policy(config, trainer, *operators, transport.learners.rank() == 0));
  }
  if (const std::string directory = teacher_of(config.policy_loss); !directory.empty()) {
    teacher.emplace(Transformer::fixed(directory, *operators));
  }
  updater = std::make_unique<PolicyUpdater>(
      UpdateOptions{config.update, config.policy_loss, config.rollout.sampling.temperature,
                    static_cast<std::uint64_t>(config.run.seed)},
      trainer, reference ? &*reference : nullptr, teacher ? &*teacher : nullptr);
  if (trains_adapter(config.model.lora)) trainer.weights().set_base_sha256(start.base_sha256);
  if (start.from_checkpoint) saved = load_checkpoint(start.model_directory, trainer);
  updater->restore_entropy_coefficient(saved.entropy_coefficient);
}

std::unique_ptr<WeightSender> make_weight_sender(const LearnerTransport& transport,
                                                 const std::shared_ptr<LearnerState>& state) {
  ShardedTrainer& trainer = state->trainer;
  const SentWeights weights(flat_elements(trainer.weights().parameters()),
                            [own = state.get(), to_all = transport.has_own_actor](FlatRange part) {
                              return own->operators->span(own->trainer.weights_at(part, to_all));
                            });
  auto sender = transport.weight_sender({.policy = {state, &trainer.policy()},
                                         .operators = *state->operators,
                                         .weights = weights,
                                         .learners = *state->learners});
  if (sender->shares_memory()) trainer.share_with_actors();
  return sender;
}

namespace {

fs::path trajectory_directory(const TrainConfig& config) {
  return fs::path(config.run.directory) / kTrajectories;
}

TrajectoryInfo trajectory_info(const TrainConfig& config, const RunStart& start,
                               const Collective& learners) {
  return {.build_id = std::string(build_id()),
          .config = dump_config_of(config),
          .seed = static_cast<std::uint64_t>(config.run.seed),
          .model_sha256 = start.model_sha256,
          .tokenizer_sha256 = tokenizer_sha256(config.model.path),
          .learner_rank = learners.rank(),
          .learner_count = learners.size(),
          .starts_after_step = start.logged_step,
          .rewards = reward_names(config.reward),
          .token_versions = config.rollout.weights_change_in_flight(),
          .drawn_groups = config.tickets.takes_first_groups()};
}

/// Returns the prompt stream of the run, restored from the checkpoint.
PromptStream prompt_stream(TrainingPrompts prompts, const TrainConfig& config,
                           const TrainerState& saved) {
  PromptStream stream(std::move(prompts),
                      prompt_order(config.data, static_cast<std::uint64_t>(config.run.seed)));
  stream.restore(saved.prompt_stream);
  return stream;
}

/// Returns the counts of the reward's n-grams and of further ones, restored from the checkpoint.
RunCoverage run_coverage(const TrainConfig& config, const RunStart& start) {
  const CoverageOptions& reward = config.reward.coverage;
  std::vector<CoverageStates> states = {{reward.ngram, reward.unit == CoverageUnit::kWords}};
  for (const auto& [unit, n] : metric_states(reward, config.metric_coverage)) {
    states.push_back({n, unit == CoverageUnit::kWords, fmt::format("_{}", n)});
  }
  RunCoverage coverage(states, config.global_coverage);
  if (start.from_checkpoint && !coverage.restore(start.model_directory)) {
    Log("learner", 0)
        .warn(
            "{}: without {}, written by an earlier version: c_global_run counts the n-grams of the "
            "steps after {} only",
            start.model_directory.string(), kCoverageFile, start.step);
  }
  return coverage;
}

}  // namespace

TrajectoryRecorder trajectory_recorder(const TrainConfig& config, const RunStart& start,
                                       Collective& learners) {
  return {trajectory_directory(config),
          trajectory_info(config, start, learners),
          {config.checkpoint.every, start.last_step},
          learners};
}

CheckpointedRun checkpointed_run(const TrainConfig& config, const RunStart& start) {
  return {.directory = config.run.directory,
          .model = config.model.path,
          .seed = static_cast<std::uint64_t>(config.run.seed),
          .first_step = start.step,
          .last_step = start.last_step,
          .checkpoint = config.checkpoint,
          .best = config.best_checkpoint,
          .keep_log_steps = config.trajectories.keep_last_steps};
}

Learner0::Learner0(const TrainConfig& run_config, const RunStart& run_start,
                   TrainingPrompts training_prompts, const LearnerTransport& transport,
                   EarlyStop& stop)
    : config(run_config),
      start(run_start),
      state(std::make_shared<LearnerState>(config, start, transport)),
      weights(make_weight_sender(transport, state)),
      prompts(prompt_stream(std::move(training_prompts), config, state->saved)),
      log(trajectory_directory(config), start.step),
      trajectories(trajectory_recorder(config, start, transport.learners)),
      coverage(run_coverage(config, start)),
      curves(config.run.directory, start.logged_step > 0 ? start.logged_step : -1, config.run.steps,
             reward_names(config.reward), reward_cautions(config.reward), coverage),
      samples(config.run.directory, start),
      recorders({&trajectories, &comparison, &curves, &samples}),
      checkpoints(checkpointed_run(config, start), state->trainer,
                  CoordinatorState{prompts, coverage, stop}) {
  if (const auto goal = parse_metric_condition(config.run.stop_when)) curves.stop_when(*goal, stop);
  curves.note_signal(config.tickets.dynamic_sampling.signal);
  curves.note_settings_changes(
      changes_before(config_changes(config.run.directory), start.step + 1));
}

LearnerParts Learner0::parts(Source<StepGroups>& groups) {
  return {groups, config.advantage, *state->updater, recorders, checkpoints};
}

}  // namespace lie
