#include "tools/run/players.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "actors/actor.h"
#include "common/build_id.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/sha256.h"
#include "common/trajectory/run_reader.h"
#include "learner/checkpoint.h"
#include "learner/curve_recorder.h"
#include "learner/learner.h"
#include "learner/publisher.h"
#include "learner/shared_groups.h"
#include "learner/step_source.h"
#include "learner/trajectory_recorder.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/devices.h"
#include "tools/run/staged_collective.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

TrajectoryInfo trajectory_info(const TrainConfig& config, const RunStart& start,
                               std::string model_sha256, const Collective& learners) {
  return {.build_id = std::string(build_id()),
          .config = dump_train_config(config),
          .seed = static_cast<std::uint64_t>(config.run.seed),
          .model_sha256 = std::move(model_sha256),
          .tokenizer_sha256 = sha256_hex(read_file(fs::path(config.model.path) / "tokenizer.json")),
          .learner_rank = learners.rank(),
          .learner_count = learners.size(),
          .starts_after_step = start.step,
          .rewards = reward_names(config.reward)};
}

/// The memory that an actor shares with those of its host; empty where it shares none.
SharedFloats shared_floats(const HostWeights* host) {
  if (host == nullptr) return {};
  const std::span<std::byte> bytes = host->bytes();
  return {{reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)}, host->writes()};
}

/// What a learner holds of the policy, and its update.
struct Training {
  std::unique_ptr<Operators> operators;
  std::unique_ptr<Collective> learners;  // reach the operators' memory
  Weights weights;
  std::string start_sha256;  // of the weights that the run began with
  AdamW optimizer;
  Transformer policy;
  std::optional<Transformer> reference;  // the initial policy, with a KL term
  std::unique_ptr<PolicyUpdater> updater;
  TrainerState state;

  Training(const TrainConfig& config, const RunStart& start, const LearnerTransport& transport)
      : operators(make_operators(config.model, transport.threads)),
        learners(staged_collective(transport.learners, *operators)),
        weights(load_weights(config.model.path, *operators)),
        start_sha256(weights_sha256(weights)),
        optimizer(config.optimizer, weights),
        policy(weights) {
    if (config.policy_loss.kl_coefficient > 0) {
      reference.emplace(Transformer::fixed(weights.copy()));
    }
    if (start.from_checkpoint) {
      state = load_checkpoint(start.model_directory, weights, optimizer);
      policy.weights_changed();
    }
    updater = std::make_unique<PolicyUpdater>(
        UpdateOptions{config.update, config.policy_loss, config.rollout.sampling.temperature},
        UpdateParts{weights, policy, reference ? &*reference : nullptr, optimizer, *learners});
  }
};

/// The prompt stream of a run, from where its checkpoint left it.
PromptStream prompt_stream(std::vector<Prompt> prompts, const TrainConfig& config,
                           const TrainerState& state) {
  PromptStream stream(std::move(prompts), static_cast<std::uint64_t>(config.run.seed),
                      config.data.shuffle);
  stream.restore(state.prompt_stream);
  return stream;
}

/// The run's n-grams so far, counted again from its trajectories.
RunCoverage run_coverage(const TrainConfig& config, const RunStart& start) {
  const bool words = config.reward.coverage.unit == CoverageUnit::kWords;
  RunCoverage coverage(config.reward.coverage.ngram, words);
  if (start.step == 0) return coverage;
  const DecodeText decode = text_decoder(start);
  const RunReader run(fs::path(config.run.directory) / "trajectories");
  for (std::size_t i = 0; i < run.samples().size(); ++i) {
    if (run.samples()[i].key.purpose != static_cast<std::uint8_t>(Purpose::kTrain)) continue;
    const auto ids = run.response_ids(i);
    coverage.restore(ids, words ? decode(ids) : std::string());
  }
  return coverage;
}

CheckpointSchedule checkpoint_schedule(const TrainConfig& config) {
  return {config.checkpoint.every, config.run.steps};
}

TrajectoryRecorder trajectory_recorder(const TrainConfig& config, const RunStart& start,
                                       const Training& training, Collective& learners) {
  return {fs::path(config.run.directory) / "trajectories",
          trajectory_info(config, start, training.start_sha256, learners),
          checkpoint_schedule(config), learners};
}

/// Writes the checkpoints, with the current state of the prompt stream. The trajectories up to this
/// step are on disk.
class CheckpointWriter : public StepStage {
 public:
  CheckpointWriter(const TrainConfig& config, const RunStart& start, const Training& training,
                   const PromptStream& prompts, EarlyStop& stop)
      : config_(config),
        training_(training),
        prompts_(prompts),
        stop_(stop),
        last_step_(start.step),
        saved_step_(start.step) {}

  void take(StepOutcome& step) override {
    last_step_ = step.step;
    if (checkpoint_schedule(config_).due_after(last_step_)) save();
  }

  /// A run that ends early is saved where it ends.
  void close() override {
    if (last_step_ != saved_step_) save();
  }

 private:
  void save() {
    const Stopwatch watch;
    saved_step_ = last_step_;
    TrainerState state;
    state.step = state.policy_version = last_step_;
    state.seed = static_cast<std::uint64_t>(config_.run.seed);
    state.build_id = build_id();
    state.prompt_stream = prompts_.state();
    save_checkpoint(fs::path(config_.run.directory) / "checkpoints",
                    {.weights = training_.weights,
                     .optimizer = training_.optimizer,
                     .state = std::move(state),
                     .start_model = config_.model.path},
                    config_.checkpoint.keep_last);
    stop_.saved_in(watch.seconds());
  }

  const TrainConfig& config_;
  const Training& training_;
  const PromptStream& prompts_;
  EarlyStop& stop_;
  std::int64_t last_step_, saved_step_;
};

}  // namespace

ScoringOptions scoring_options(const TrainConfig& config) {
  return {.rewards = config.reward,
          .verifier = config.verifier,
          .max_response_tokens = config.rollout.sampling.max_response_tokens,
          .verifier_program = config.verifier_program};
}

DecodeText text_decoder(const RunStart& start) {
  auto tokenizer = std::make_shared<const Tokenizer>(Tokenizer::load(start.model_directory));
  return [tokenizer](std::span<const std::int32_t> ids) {
    return tokenizer->decode(ids, /*skip_special=*/true);
  };
}

void play_actor(const TrainConfig& config, const RunStart& start, const ActorTransport& transport) {
  const Tokenizer tokenizer = Tokenizer::load(start.model_directory);
  const auto operators =
      make_operators(config.model, transport.threads, shared_floats(transport.host_weights));
  // Overwritten by the first weight sync.
  Weights weights(load_model_config(start.model_directory), *operators);
  const auto weight_group = staged_collective(transport.weight_group, *operators);
  Transformer policy(weights);
  Generator generator(policy, *operators, weights.config(), config.rollout,
                      static_cast<std::uint64_t>(config.run.seed),
                      [&](const Prompt& prompt) { return tokenizer.encode(prompt.text); });
  run_actor({.weights = weights.span(),
             .policy = policy,
             .generator = generator,
             .tickets = transport.tickets,
             .rollouts = transport.rollouts,
             .weight_group = *weight_group,
             .rank = transport.rank,
             .attend = transport.attend,
             .host_weights = transport.host_weights});
}

void play_reward_worker(const TrainConfig& config, const RunStart& start,
                        const RewardTransport& transport) {
  run_reward_worker(scoring_options(config), text_decoder(start),
                    {.rank = transport.rank, .attend = transport.attend}, transport.rollouts,
                    transport.scored);
}

void play_learner_0(const TrainConfig& config, const RunStart& start, RunPrompts prompts,
                    const LearnerTransport& transport, const CoordinatorTransport& coordination,
                    EarlyStop& stop) {
  Training training(config, start, transport);
  PromptStream stream = prompt_stream(std::move(prompts.training), config, training.state);
  const EvaluationTickets evaluations(std::move(prompts.evaluation), config.evaluation,
                                      config.run.steps);
  Coordinator coordinator(coordination.desk, coordination.actors, coordination.scored,
                          [&] { stop.attend(); });
  StepSource collected(coordinator, stream, config.tickets, start.step, config.run.steps, stop);
  SharedGroups groups(collected, transport.learners);

  const auto weight_group = staged_collective(coordination.weight_group, *training.operators);
  Publisher publisher(coordinator, *weight_group, training.weights, evaluations);
  TrajectoryRecorder trajectories =
      trajectory_recorder(config, start, training, transport.learners);
  CurveRecorder curves(config.run.directory, start.from_checkpoint ? start.step : -1,
                       config.run.steps, reward_names(config.reward), run_coverage(config, start));
  CheckpointWriter checkpoints(config, start, training, stream, stop);
  StepChain outcomes({&publisher, &trajectories, &curves, &checkpoints});

  if (start.step == 0) {
    outcomes.send({.step = 0});
  } else {
    publisher.publish(start.step);
  }
  run_learner({config.advantage, *training.updater, groups, outcomes});
}

void play_learner(const TrainConfig& config, const RunStart& start,
                  const LearnerTransport& transport) {
  Training training(config, start, transport);
  GroupsOfLearner0 groups(transport.learners);
  TrajectoryRecorder trajectories =
      trajectory_recorder(config, start, training, transport.learners);
  StepChain outcomes({&trajectories});
  run_learner({config.advantage, *training.updater, groups, outcomes});
}

}  // namespace lie
