#include "tools/run/players.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "actors/actor.h"
#include "common/build_id.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "common/sha256.h"
#include "common/trajectory/segment_index.h"
#include "learner/best_checkpoint.h"
#include "learner/checkpoint.h"
#include "learner/curve_recorder.h"
#include "learner/group_collector.h"
#include "learner/journal.h"
#include "learner/learner.h"
#include "learner/log_comparison.h"
#include "learner/logged_steps.h"
#include "learner/publisher.h"
#include "learner/run_coverage.h"
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
          .starts_after_step = start.logged_step,
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
    weights.set_end_of_sequence_ids(start.end_of_sequence_ids);
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

/// What C_global counts: the reward's states, and those of the further metrics.
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

CheckpointSchedule checkpoint_schedule(const TrainConfig& config) {
  return {config.checkpoint.every, config.run.steps};
}

TrajectoryRecorder trajectory_recorder(const TrainConfig& config, const RunStart& start,
                                       const Training& training, Collective& learners) {
  return {fs::path(config.run.directory) / "trajectories",
          trajectory_info(config, start, training.start_sha256, learners),
          checkpoint_schedule(config), learners};
}

/// Writes the checkpoints, with the current state of the prompt stream and of the coverage. The
/// trajectories up to this step are on disk.
class CheckpointWriter : public StepStage {
 public:
  CheckpointWriter(const TrainConfig& config, const RunStart& start, const Training& training,
                   const PromptStream& prompts, const RunCoverage& coverage, EarlyStop& stop)
      : config_(config),
        training_(training),
        prompts_(prompts),
        coverage_(coverage),
        stop_(stop),
        checkpoints_(fs::path(config.run.directory) / "checkpoints"),
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
    save_checkpoint(checkpoints_, {.weights = training_.weights,
                                   .optimizer = training_.optimizer,
                                   .state = std::move(state),
                                   .start_model = config_.model.path,
                                   .coverage = &coverage_});
    remove_old_checkpoints(checkpoints_, config_.checkpoint.keep_last, best());
    if (const std::int64_t keep = config_.trajectories.keep_last_steps; keep > 0) {
      remove_segments_up_to(fs::path(config_.run.directory) / "trajectories", last_step_ - keep);
    }
    stop_.saved_in(watch.seconds());
  }

  /// By the metrics up to this step, which the curves before this stage have written.
  std::optional<std::int64_t> best() const {
    const std::string& metric = config_.best_checkpoint.keep_best;
    if (metric.empty()) return {};
    const auto step = best_saved_step(config_.run.directory, metric);
    const Log voice("learner", 0);
    if (!step) {
      voice.warn("no saved step has been evaluated by {}: checkpoint.keep_best keeps none yet",
                 metric);
    } else if (*step == last_step_) {
      voice.info("step {} has the best {} so far: its checkpoint stays", *step, metric);
    }
    return step;
  }

  const TrainConfig& config_;
  const Training& training_;
  const PromptStream& prompts_;
  const RunCoverage& coverage_;
  EarlyStop& stop_;
  fs::path checkpoints_;
  std::int64_t last_step_, saved_step_;
};

/// The first version that anything is generated with; beyond the run's last where the log has all.
std::int64_t first_version(const TrainConfig& config, const RunStart& start) {
  return start.logged_step < config.run.steps ? start.logged_step : config.run.steps + 1;
}

TextOfResponse text_of_response(const TrainConfig& config, const RunStart& start) {
  if (!counts_words(config.reward.coverage, config.metric_coverage)) return {};
  return text_decoder(start);
}

/// What comes before the first step: the start policy's evaluation, or the checkpoint's weights for
/// the actors.
void begin(const RunStart& start, const StepLog& log, StepChain& outcomes, Publisher& publisher) {
  if (start.logged_step > start.step) {
    Log("learner", 0)
        .info("steps {} to {} are learned again from the log", start.step + 1, start.logged_step);
  }
  if (start.step > 0) {
    if (start.logged_step == start.step) publisher.publish(start.step);
    return;
  }
  StepOutcome first{.step = 0};
  if (start.logged_step > 0 && log.holds(0)) {
    first.evaluation = read_logged_step(log, 0, {}).evaluation;
    first.is_logged = true;
  }
  outcomes.send(std::move(first));
}

}  // namespace

ScoringOptions scoring_options(const TrainConfig& config) {
  return {.rewards = config.reward,
          .verifier = config.verifier,
          .max_response_tokens = config.rollout.sampling.max_response_tokens,
          .verifier_program = config.verifier_program,
          .metric_coverage = config.metric_coverage,
          .budgets = config.evaluation_budgets};
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
  RolloutOptions rollout = config.rollout;
  rollout.end_of_sequence_ids = start.end_of_sequence_ids;
  Generator generator(policy, *operators, weights.config(), rollout,
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
                          [&] { return stop.stops_generation(); });
  Journal journal(config.run.directory);
  GroupCollector collector(coordinator, journal, stop);
  StepSource generated(collector, stream, config.tickets, start.logged_step, config.run.steps,
                       stop);
  const StepLog log(fs::path(config.run.directory) / "trajectories", start.step);
  LoggedSteps logged(log, {start.step, start.logged_step}, text_of_response(config, start), stream,
                     config.tickets, stop, generated);
  SharedGroups groups(logged, transport.learners);

  const auto weight_group = staged_collective(coordination.weight_group, *training.operators);
  Publisher publisher(coordinator, collector, *weight_group, training.weights, evaluations,
                      first_version(config, start));
  TrajectoryRecorder trajectories =
      trajectory_recorder(config, start, training, transport.learners);
  LogComparison comparison;
  RunCoverage coverage = run_coverage(config, start);
  CurveRecorder curves(config.run.directory, start.logged_step > 0 ? start.logged_step : -1,
                       config.run.steps, reward_names(config.reward), coverage);
  CheckpointWriter checkpoints(config, start, training, stream, coverage, stop);
  StepChain outcomes({&publisher, &trajectories, &comparison, &curves, &checkpoints});

  begin(start, log, outcomes, publisher);
  run_learner({config.advantage, *training.updater, groups, outcomes});
  collector.keep_in_flight();
  publisher.finish();
  journal.remove_up_to(generated.last_given());
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
