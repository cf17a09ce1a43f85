#include "tools/run/roles/training.h"

#include <utility>

#include "common/base/build_id.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/io/sha256.h"
#include "common/process/log.h"
#include "common/trajectory/segment_index.h"
#include "learner/checkpoint/best_checkpoint.h"
#include "learner/checkpoint/checkpoint.h"
#include "learner/update/optimizer_shards.h"
#include "tools/run/config/devices.h"

namespace lie {
namespace {

TrajectoryInfo trajectory_info(const TrainConfig& config, const RunStart& start,
                               std::string model_sha256, const Collective& learners) {
  return {.build_id = std::string(build_id()),
          .config = dump_config_of(config),
          .seed = static_cast<std::uint64_t>(config.run.seed),
          .model_sha256 = std::move(model_sha256),
          .tokenizer_sha256 = sha256_hex(read_file(fs::path(config.model.path) / "tokenizer.json")),
          .learner_rank = learners.rank(),
          .learner_count = learners.size(),
          .starts_after_step = start.logged_step,
          .rewards = reward_names(config.reward),
          .token_versions = config.rollout.weights_change_in_flight(),
          .drawn_groups = config.tickets.takes_first_groups()};
}

CheckpointSchedule checkpoint_schedule(const TrainConfig& config) {
  return {config.checkpoint.every, config.run.steps};
}

}  // namespace

Training::Training(const TrainConfig& config, const RunStart& start,
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
  state = load_checkpoint(start.model_directory, weights, optimizer);
  updater->share_weights();
}

PromptStream prompt_stream(std::vector<Prompt> prompts, const TrainConfig& config,
                           const TrainerState& state) {
  PromptStream stream(std::move(prompts), static_cast<std::uint64_t>(config.run.seed),
                      config.data.shuffle);
  stream.restore(state.prompt_stream);
  return stream;
}

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

TrajectoryRecorder trajectory_recorder(const TrainConfig& config, const RunStart& start,
                                       const Training& training, Collective& learners) {
  return {fs::path(config.run.directory) / "trajectories",
          trajectory_info(config, start, training.start_sha256, learners),
          checkpoint_schedule(config), learners};
}

CurveRecorder curve_recorder(const TrainConfig& config, const RunStart& start,
                             RunCoverage& coverage) {
  return {config.run.directory,
          start.logged_step > 0 ? start.logged_step : -1,
          config.run.steps,
          reward_names(config.reward),
          reward_cautions(config.reward),
          coverage};
}

void CheckpointWriter::take(StepOutcome& step) {
  last_step_ = step.step;
  if (checkpoint_schedule(config_).due_after(last_step_)) save();
  note(saver_.poll());
}

void CheckpointWriter::close() {
  if (last_step_ != saved_step_) save();
  note(saver_.wait());
}

void CheckpointWriter::save() {
  note(saver_.wait());
  saved_step_ = last_step_;
  TrainerState state;
  state.step = state.policy_version = last_step_;
  state.seed = static_cast<std::uint64_t>(config_.run.seed);
  state.build_id = build_id();
  state.prompt_stream = prompts_.state();
  stop_.begins_saving();
  saver_.save(
      {.weights = training_.weights,
       .optimizer = training_.optimizer,
       .state = std::move(state),
       .start_model = config_.model.path,
       .coverage = &coverage_},
      [this] { remove_old_checkpoints(checkpoints_, config_.checkpoint.keep_last, best()); });
}

void CheckpointShare::take(StepOutcome& step) {
  last_step_ = step.step;
  if (checkpoint_schedule(config_).due_after(last_step_)) save();
  saver_.poll();
}

void CheckpointShare::close() {
  if (last_step_ != saved_step_) save();
  saver_.wait();
}

void CheckpointShare::save() {
  saved_step_ = last_step_;
  TrainerState state;
  state.step = last_step_;
  saver_.save({training_.weights, training_.optimizer, std::move(state)}, {});
}

void CheckpointWriter::note(const std::optional<SavingSeconds>& saved) {
  if (!saved) return;
  stop_.saved_in(saved->all);
  if (saved_step_ < config_.run.steps) {  // the last is told of at the end
    Log("learner", 0)
        .info("step {} is saved: {:.1f} s, of which training waited {:.1f} s", saved_step_,
              saved->all, saved->waited);
  }
  if (const std::int64_t keep = config_.trajectories.keep_last_steps; keep > 0) {
    remove_segments_up_to(fs::path(config_.run.directory) / "trajectories", saved_step_ - keep);
  }
}

std::optional<std::int64_t> CheckpointWriter::best() const {
  const std::string& metric = config_.best_checkpoint.keep_best;
  if (metric.empty()) return {};
  const auto step = best_saved_step(config_.run.directory, metric);
  const Log voice("learner", 0);
  if (!step) {
    voice.warn("no saved step has been evaluated by {}: checkpoint.keep_best keeps none yet",
               metric);
  } else if (*step == saved_step_) {
    voice.info("step {} has the best {} so far: its checkpoint stays", *step, metric);
  }
  return step;
}

}  // namespace lie
