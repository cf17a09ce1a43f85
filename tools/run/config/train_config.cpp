#include "tools/run/config/train_config.h"

#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "common/config/config.h"
#include "common/rollout/prompt_stream.h"
#include "common/text/counted.h"
#include "learner/record/metric_condition.h"
#include "model/config/lora.h"
#include "tools/run/config/devices.h"

namespace lie {
namespace {

void check_in_flight_weights(const TrainConfig& config) {
  if (!config.rollout.weights_change_in_flight()) return;
  if (config.tickets.max_staleness == 0) {
    fail(
        "rollout.in_flight_weights is not finish, but rollout.max_staleness is 0: no response is "
        "in flight when weights change; set max_staleness to 1 or more");
  }
  if (config.rollout.in_flight_weights == InFlightWeights::kKeepCache &&
      config.rollout.preemption) {
    fail(
        "rollout.in_flight_weights is keep_cache, but rollout.preemption is true: a preempted "
        "response loses its cache; set preemption to false, or use recompute_cache");
  }
}

void check_schedule(const TrainConfig& config) {
  const bool is_known =
      config.run.schedule == ScheduleMode::kRecorded || !config.run.follow_schedule.empty();
  if (!config.tickets.takes_first_groups() || is_known) return;
  fail(
      "rollout.complete_with is first_groups, but run.schedule is free: which groups a step uses "
      "depends on timing, and a killed run resumes by the recorded schedule; set run.schedule to "
      "recorded");
}

/// Refuses a temperature that is 0 in all but name: logits divided by it are not finite in fp32.
void check_temperature(const SamplingOptions& sampling, const char* section) {
  constexpr double kLeast = 1e-3;
  if (sampling.temperature == 0 || sampling.temperature >= kLeast) return;
  fail("{}.temperature is {}, less than {}; 0 is greedy in evaluations", section,
       sampling.temperature, kLeast);
}

void check_sampling(const TrainConfig& config) {
  if (config.rollout.sampling.min_response_tokens > 0) {
    fail(
        "rollout.min_response_tokens is {}: responses of a forced length are not drawn from the "
        "policy, so training on them would be biased; use evaluation.min_response_tokens, or "
        "lie_cluster forecast",
        config.rollout.sampling.min_response_tokens);
  }
  check_temperature(config.rollout.sampling, "rollout");
  check_temperature(config.rollout.evaluation, "evaluation");
  if (config.rollout.sampling.temperature > 0) return;
  fail(
      "rollout.temperature is 0: greedy responses of a group are all the same, and log-probs at "
      "temperature 0 are not finite, so there is nothing to learn; 1 is usual "
      "(evaluation.temperature may be 0)");
}

void check_teacher(const TrainConfig& config) {
  const std::string teacher = teacher_of(config.policy_loss);
  if (teacher.empty() || !config.tickets.dynamic_sampling.enabled) return;
  fail(
      "rollout.dynamic_sampling.enabled is true, but policy_loss.distillation.teacher gives "
      "advantages to groups of one verdict, too; set it to false");
}

/// A term that replaces the accuracy is logged as its difference from it, so that only their sum is
/// a reward.
void check_advantage(const TrainConfig& config) {
  check_options(config.advantage);
  check_group_size(config.advantage, config.tickets.samples_per_prompt);
  check_reward_terms(config.advantage, terms_on(config.reward));
  const std::string term = replacing_term(config.reward);
  if (term.empty() || !normalizes_terms(config.advantage)) return;
  fail(
      "reward.{0}.enabled is true, which replaces the accuracy by a reward of its own, but the "
      "advantages normalize accuracy and {0} apart, so that they cancel or count twice; set "
      "advantage.estimator to one that adds the terms first, such as group-relative with per_term "
      "false",
      term);
}

void check_length(const TrainConfig& config) {
  parse_metric_condition(config.run.stop_when);  // checks it
  if (config.run.epochs == 0) return;
  if (config.run.steps != RunOptions().steps) {
    fail("run.steps and run.epochs are both set: remove one of them");
  }
  if (config.tickets.dynamic_sampling.enabled) {
    fail(
        "run.epochs is set, but with rollout.dynamic_sampling the prompts of a step are not known "
        "in advance: set run.steps");
  }
}

void check_prompt_order(const DataOptions& data) {
  if (!data.train_weights.empty()) {
    if (data.train_weights.size() != data.train_file.size()) {
      fail("data.train_weights has {} for {}; give one weight for each file of data.train_file",
           counted(std::ssize(data.train_weights), "weight"),
           counted(std::ssize(data.train_file), "file"));
    }
    if (!data.shuffle) {
      fail("data.train_weights mixes the files within a pass, which needs data.shuffle: true");
    }
  }
  if (data.accuracy_bands.empty() != data.accuracy_field.empty()) {
    fail("{} is set but {} is not: a curriculum needs both",
         data.accuracy_bands.empty() ? "data.accuracy_field" : "data.accuracy_bands",
         data.accuracy_bands.empty() ? "data.accuracy_bands" : "data.accuracy_field");
  }
  for (const std::string& text : data.accuracy_bands) parse_band(text, "data.accuracy_bands");
}

/// Throws Error if settings do not go with an adapter.
void check_lora(const TrainConfig& config) {
  check_options(config.model.lora);
  check_zero_stage(config.trainer, trains_adapter(config.model.lora));
  if (!trains_adapter(config.model.lora)) return;
  if (config.weight_sync.weights == DType::kFloat32) return;
  fail(
      "rollout.weights is bfloat16 and model.lora.rank {}: only the adapter is sent, so that "
      "rounding it would save little and make the actors' policy another one; set it to float32",
      config.model.lora.rank);
}

void check(const TrainConfig& config) {
  if (config.run.directory.empty())
    fail("run.directory is not set: name the directory for the run");
  if (config.model.path.empty()) {
    fail("model.path is not set: name the Hugging Face directory of the model to train");
  }
  if (config.data.train_file.empty()) {
    fail("data.train_file is not set: name the JSONL or Parquet file of training prompts");
  }
  if (config.evaluation.every > 0 && config.data.evaluation_file.empty()) {
    fail(
        "evaluation.every is {} but data.evaluation_file is not set: name the held-out prompts, or "
        "set evaluation.every to 0",
        config.evaluation.every);
  }
  check_length(config);
  check_teacher(config);
  check_prompt_order(config.data);
  check_lora(config);
  metric_states(config.reward.coverage, config.metric_coverage);  // checks them
  if (config.evaluation.every > 0) check_options(config.evaluation_budgets);
  check_options(config.tickets);
  check_sampling(config);
  check_lengths(config.rollout.evaluation, "evaluation");
  check_in_flight_weights(config);
  check_schedule(config);
  check_advantage(config);
  check_options(config.policy_loss);
  check_options(config.optimizer);
}

}  // namespace

void describe(FieldList& fields, TrainConfig& config) {
  fields.section("run", config.run);
  fields.section("model", config.model);
  fields.section("model.lora", config.model.lora);
  fields.section("data", config.data);
  fields.section("roles", config.roles);
  fields.section("rollout", config.tickets);
  fields.section("rollout", config.rollout);
  fields.section("rollout", config.rollout.sampling);
  fields.section("rollout", config.weight_sync);
  fields.section("evaluation", config.evaluation);
  fields.section("evaluation", config.evaluation_budgets);
  fields.section("evaluation", [&] { describe_evaluation(fields, config.rollout.evaluation); });
  fields.section("reward", config.reward);
  fields.section("coverage", config.metric_coverage);
  fields.section("coverage", config.global_coverage);
  fields.section("verifier", config.verifier);
  fields.section("verifier", config.verifier_program);
  fields.section("advantage", config.advantage);
  fields.section("policy_loss", config.policy_loss);
  fields.section("update", config.update);
  fields.section("update", config.trainer);
  fields.section("optimizer", config.optimizer);
  fields.section("checkpoint", config.checkpoint);
  fields.section("checkpoint", config.best_checkpoint);
  fields.section("trajectories", config.trajectories);
}

std::int64_t schedule_length(const TrainConfig& config) {
  if (config.optimizer.schedule_per_step) return config.run.steps;
  const std::int64_t per_epoch =
      divided_up(config.tickets.prompts_per_step, config.update.mini_batch_prompts);
  return config.run.steps * per_epoch * config.update.epochs;
}

void check_decay(const TrainConfig& config) {
  const OptimizerOptions& optimizer = config.optimizer;
  const std::int64_t length = schedule_length(config);
  const bool ends_at_0 = optimizer.schedule != Schedule::kConstant && optimizer.min_ratio == 0 &&
                         optimizer.learning_rate > 0;
  if (!ends_at_0 || optimizer.decay_until >= length) return;
  const char* unit = optimizer.schedule_per_step ? "step" : "update";
  fail(
      "optimizer.decay_until is {}, but the run has {}: after it the learning rate is 0 and "
      "nothing "
      "is learned; set decay_until to {}{}, or min_ratio above 0",
      optimizer.decay_until, counted(length, unit), length,
      optimizer.schedule_per_step ? "" : ", or schedule_per_step to true to count steps");
}

TrainConfig load_train_config(const std::filesystem::path& path,
                              std::span<const std::string> overrides) {
  TrainConfig config;
  config.former_keys = load_config(fields_of(config), path, overrides);
  // Limits of evaluations that never run must not prevent training.
  if (config.evaluation.every == 0) config.rollout.evaluation = config.rollout.sampling;
  std::int64_t& evaluated = config.rollout.evaluation.max_response_tokens;
  if (evaluated == 0) evaluated = config.rollout.sampling.max_response_tokens;
  config.data.keep_rows = config.data.gold_optional =
      !config.reward.command.empty() || !config.verifier_program.command.empty();
  apply_preset(config.reward);
  set_zero_stage(config.trainer, is_on_gpu(config.model));
  check(config);
  set_reward_terms(config.advantage, reward_names(config.reward));
  config.policy_loss.aggregation = aggregation(config.policy_loss);
  set_divisor(config.policy_loss, config.rollout.sampling.max_response_tokens);
  return config;
}

bool allows_shared_policy(const TrainConfig& config) {
  return config.tickets.max_staleness == 0 && !config.tickets.takes_first_groups() &&
         config.weight_sync.weights == DType::kFloat32;
}

ScoringOptions scoring_options(const TrainConfig& config) {
  return {.rewards = config.reward,
          .verifier = config.verifier,
          .max_response_tokens = config.rollout.sampling.max_response_tokens,
          .verifier_program = config.verifier_program,
          .metric_coverage = config.metric_coverage,
          .budgets = config.evaluation_budgets};
}

}  // namespace lie
