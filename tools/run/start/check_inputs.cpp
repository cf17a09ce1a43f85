#include "tools/run/start/check_inputs.h"

#include <fmt/ranges.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "actors/kv_cache_size.h"
#include "common/base/error.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/process/log.h"
#include "learner/checkpoint/best_checkpoint.h"
#include "learner/record/evaluation_metrics.h"
#include "learner/record/metric_condition.h"
#include "learner/schedule/rollout_schedule.h"
#include "model/tokenizer/tokenizer.h"
#include "rewards/reward_worker.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/input/prompts.h"
#include "tools/run/start/resume.h"

namespace lie {
namespace {

/// Returns the names of the run's evaluation metrics, or none if it does not evaluate. Numbers of
/// reward programs are missing, since their names are known only from their replies.
std::vector<std::string> evaluation_metrics(const TrainConfig& config,
                                            std::span<const Prompt> prompts) {
  if (config.evaluation.every == 0) return {};
  ScoringOptions scoring = scoring_options(config);
  scoring.rewards.command.clear();
  scoring.verifier_program.command.clear();
  Scorer scorer(scoring);
  RolloutGroup empty;
  empty.ticket.purpose = Purpose::kEvaluate;
  empty.responses.resize(1);
  const auto no_text = [](std::span<const std::int32_t>) { return std::string(); };
  return evaluation_metric_names(prompts, score_group(scorer, empty, no_text).scores.front());
}

/// Throws Error if keep_best or stop_when names no evaluation metric. Warns if evaluated steps are
/// not always saved.
void check_best(const TrainConfig& config, std::span<const Prompt> evaluation, const Log& log) {
  const std::vector<std::string> given = evaluation_metrics(config, evaluation);
  check_metric("checkpoint.keep_best", config.best_checkpoint.keep_best, given);
  if (const auto goal = parse_metric_condition(config.run.stop_when)) {
    check_metric("run.stop_when", goal->metric, given);
  }
  const std::int64_t every = config.checkpoint.every, evaluated = config.evaluation.every;
  if (config.best_checkpoint.keep_best.empty() || (every > 0 && evaluated % every == 0)) return;
  log.warn(
      "checkpoint.keep_best chooses among the steps that are both evaluated and saved: "
      "evaluation.every {} is not a multiple of checkpoint.every {}",
      evaluated, every);
}

/// Throws Error if a training prompt lacks data that a reward term needs.
void check_training_rows(const TrainConfig& config, std::span<const Prompt> prompts) {
  try {
    for (const Prompt& prompt : prompts) {
      Ticket ticket;
      ticket.prompt = prompt;
      check_scorable(config.reward, ticket);
    }
  } catch (const Error& error) {
    fail("data.train_file {}: {}", fmt::join(config.data.train_file, ", "), error.what());
  }
}

/// Loads what every role needs, so that bad input is reported before anything is written. Adds to
/// `warnings`.
RunPrompts check_prompts(const TrainConfig& config, EvaluationRows evaluation,
                         std::vector<std::string>& warnings) {
  RunPrompts prompts;
  const Log log("learner", 0);
  prompts.training = read_training_prompts(config.data, config.model.path, &log);
  const std::vector<PassPlan> plans = plan_passes(
      prompts.training, prompt_order(config.data, 0));  // throws if a pass has no prompt
  reward_terms(
      config.reward,
      config.rollout.sampling.max_response_tokens);  // throws if a term does not fit the limit
  check_training_rows(config, prompts.training.prompts);
  const bool reads_evaluation = evaluation == EvaluationRows::kRead;
  if (config.evaluation.every > 0 && reads_evaluation) {
    prompts.evaluation =
        read_evaluation_prompts(config.data.evaluation_file, config.evaluation.prompts, config.data,
                                config.model.path, log);
  }
  if (reads_evaluation) check_best(config, prompts.evaluation, log);
  std::vector<std::string> found =
      config_warnings(config, prompts.training.prompts, prompts.evaluation);
  std::ranges::move(curriculum_warnings(config, plans), std::back_inserter(found));
  for (std::string& warning : found) {
    log.warn("{}", warning);
    warnings.push_back(std::move(warning));
  }
  return prompts;
}

/// Throws Error unless the teacher of distillation has the tokenizer of the model, so that a token
/// id means the same to both.
void check_teacher(const TrainConfig& config) {
  const std::string directory = teacher_of(config.policy_loss);
  if (directory.empty()) return;
  const auto file = [](const std::string& model) {
    return std::filesystem::path(model) / "tokenizer.json";
  };
  if (read_file(file(directory)) != read_file(file(config.model.path))) {
    fail(
        "{}: differs from {}: the teacher of policy_loss.distillation must have the tokenizer of "
        "model.path",
        file(directory).string(), file(config.model.path).string());
  }
  const PolicyFiles files = find_policy(directory);
  check_base(files);
  Log("learner", 0).warn_each(adapter_remarks(files));
  const ModelConfig teacher = load_model_config(directory);
  const std::int64_t needed = plan_weights(config.model.path).config.vocabulary;
  if (teacher.vocabulary < needed) {
    fail(
        "{}: has a vocabulary of {}, fewer than the {} of model.path; name a teacher of the same "
        "family",
        directory, teacher.vocabulary, needed);
  }
  const std::int64_t longest =
      config.rollout.max_prompt_tokens + config.rollout.sampling.max_response_tokens;
  if (teacher.max_positions >= longest) return;
  fail(
      "{}: the teacher has {} positions, fewer than rollout.max_prompt_tokens + "
      "max_response_tokens {}; lower them, or name another teacher",
      directory, teacher.max_positions, longest);
}

/// Throws Error if run.follow_schedule does not reach the end of the run. Warns if the run cannot
/// be repeated.
void check_followed_schedule(TrainConfig config) {
  const RunOptions& run = config.run;
  if (!run.follow_schedule.empty()) {
    check_repeats(run.follow_schedule, fields_of(config));
    const RolloutSchedule schedule(run.follow_schedule);
    if (schedule.takes_first_groups() != config.tickets.takes_first_groups()) {
      fail("{} belongs to a run with rollout.complete_with {}; set the same value",
           run.follow_schedule, schedule.takes_first_groups() ? "first_groups" : "own_groups");
    }
    const std::int64_t last = schedule.last_step();
    if (last >= run.steps) return;
    if (last == 0) fail("{} holds no step: name the schedule.jsonl of a run", run.follow_schedule);
    fail("{} ends with step {}, but run.steps is {}: lower run.steps", run.follow_schedule, last,
         run.steps);
  }
  if (config.tickets.max_staleness == 0 || run.schedule == ScheduleMode::kRecorded) return;
  Log("learner", 0)
      .warn(
          "rollout.max_staleness {}: which weights sample a response depends on timing, so "
          "neither this run nor a resume of it can be repeated bit for bit; run.schedule=recorded "
          "writes the schedule that repeats it",
          config.tickets.max_staleness);
}

}  // namespace

RunInputs check_inputs(const TrainConfig& config, EvaluationRows evaluation) {
  RunInputs inputs;
  check_teacher(config);
  inputs.ends = end_tokens(config.model.path, config.data.prompt_template, config.rollout);
  inputs.model = plan_weights(config.model.path, config.model.adapter);
  check_trained(config.model);
  inputs.model.config = trained_config(config.model, config.model.path);
  Log("learner", 0).warn_each(model_remarks(config.model.path));
  inputs.dtypes = make_operators(config.model, 1)->dtypes();
  kv_cache_pages(inputs.model.config, config.rollout,
                 inputs.dtypes.packed);  // throws if responses do not fit
  inputs.prompts = check_prompts(config, evaluation, inputs.warnings);
  check_followed_schedule(config);
  return inputs;
}

void try_programs(const TrainConfig& config, const Prompt& prompt) {
  const ScoringOptions scoring = scoring_options(config);
  if (scoring.rewards.command.empty() && scoring.verifier_program.command.empty()) return;
  const std::string text = fmt::format("\\boxed{{{}}}", prompt.gold);
  RolloutGroup answered;
  answered.ticket = {.step = 1, .samples = 1, .prompt = prompt};
  answered.responses.resize(1);
  answered.responses[0].ids = Tokenizer::load(config.model.path).encode(text);
  Scorer scorer(scoring);
  score_group(scorer, std::move(answered), [&](std::span<const std::int32_t>) { return text; });
  scorer.finish();
  Log("learner", 0).info("reward programs: answered a test question about the first prompt");
}

}  // namespace lie
