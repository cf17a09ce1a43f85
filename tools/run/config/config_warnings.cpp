#include "tools/run/config/config_warnings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "common/comm/host_cpus.h"
#include "common/io/json.h"
#include "common/text/collapsed.h"
#include "common/text/counted.h"
#include "learner/record/metric_condition.h"
#include "model/operators/operators.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/config/idle_keys.h"

namespace lie {
namespace {

constexpr double kNarrowRange = 0.1;  // as of sequence ratios, whose deviations are small
/// Ranges between these are used with both levels: 3e-4 to 0.013 with sequences, 0.1 to 0.4 with
/// tokens.
constexpr double kWideForSequences = 0.1, kNarrowForTokens = 0.01;

/// Adds a warning unless it is empty.
void add(std::string warning, std::vector<std::string>& warnings) {
  if (!warning.empty()) warnings.push_back(std::move(warning));
}

void check_sampling(const TrainConfig& config, std::vector<std::string>& warnings) {
  if (config.tickets.samples_per_prompt == 1 && !compares_groups(config.advantage)) {
    warnings.emplace_back(
        "rollout.samples_per_prompt is 1: a response is compared with no other, so its advantage "
        "has no baseline, or is 0; 8 or 16 are usual");
  }
  const SamplingOptions& sampling = config.rollout.sampling;
  if (sampling.top_k == 1) {
    warnings.emplace_back(
        "rollout.top_k is 1: all responses to a prompt are equal, so there is nothing to learn; "
        "set it to 0");
  }
  if (sampling.top_p < 1 || sampling.top_k > 0) {
    warnings.emplace_back(
        "rollout.top_p below 1 and rollout.top_k sample from a truncated distribution, but the "
        "log-probs that training uses are those of the full one: the update is off policy, and no "
        "importance ratio corrects it; use 1 and 0");
  }
}

/// Warns of evaluation prompts that are training prompts, by content.
void check_evaluation_rows(const TrainConfig& config, std::span<const Prompt> training,
                           std::span<const Prompt> evaluation, std::vector<std::string>& warnings) {
  if (evaluation.empty()) return;
  std::unordered_set<std::string> texts;
  for (const Prompt& prompt : training) texts.insert(collapsed(prompt.text));
  const auto common = std::ranges::count_if(
      evaluation, [&](const Prompt& prompt) { return texts.contains(collapsed(prompt.text)); });
  if (common == 0) return;
  warnings.push_back(
      fmt::format("data.evaluation_file: {} of {} evaluation prompts are training prompts, so "
                  "evaluations also measure what was memorized; remove them from {}",
                  common, evaluation.size(), fmt::join(config.data.train_file, ", ")));
}

void check_data(const TrainConfig& config, std::span<const Prompt> training,
                std::vector<std::string>& warnings) {
  if (std::ssize(training) < config.tickets.prompts_per_step) {
    warnings.push_back(fmt::format(
        "{} has {} prompts, fewer than rollout.prompts_per_step {}: a step repeats "
        "prompts, each as a group of its own; is it the file that you meant?",
        fmt::join(config.data.train_file, ", "), training.size(), config.tickets.prompts_per_step));
  }
  std::set<std::string_view> distinct;
  for (const Prompt& prompt : training) distinct.insert(prompt.text);
  if (2 * distinct.size() <= training.size() && training.size() > 1) {
    warnings.push_back(
        fmt::format("{} has {} prompts, of which only {} differ; is it the file that "
                    "you meant?",
                    fmt::join(config.data.train_file, ", "), training.size(), distinct.size()));
  }
}

/// Finds reward terms whose options do not fit the training prompts or the response limit.
void check_rewards(const TrainConfig& config, std::span<const Prompt> training,
                   std::vector<std::string>& warnings) {
  for (const RewardTerm& term :
       reward_terms(config.reward, config.rollout.sampling.max_response_tokens)) {
    std::string caution = term.caution ? term.caution(training) : "";
    if (!caution.empty()) warnings.push_back(std::move(caution));
  }
  std::ranges::move(unreachable_terms(config.reward, config.rollout.sampling.max_response_tokens),
                    std::back_inserter(warnings));
}

/// Finds an estimator that gives advantages to other groups than dynamic sampling keeps.
void check_dynamic_sampling(const TrainConfig& config, std::vector<std::string>& warnings) {
  const DynamicSamplingOptions& sampling = config.tickets.dynamic_sampling;
  if (!sampling.enabled) return;
  if (compares_groups(config.advantage)) {
    warnings.push_back(fmt::format(
        "rollout.dynamic_sampling.enabled is true, but advantage.estimator {} compares groups with "
        "each other, so that the groups it drops would have advantages, too; set it to false",
        config.advantage.estimator));
  }
  const std::string silent = silent_groups(config.advantage, sampling.signal == SignalOf::kReward);
  if (silent.empty()) return;
  warnings.push_back(fmt::format(
      "rollout.dynamic_sampling keeps groups that teach nothing, because advantage.estimator {} "
      "gives 0 to {}",
      config.advantage.estimator, silent));
}

void check_threads(const TrainConfig& config, std::vector<std::string>& warnings) {
  const auto cpus = std::ssize(usable_cpus());
  if (config.model.threads <= cpus) return;
  warnings.push_back(
      fmt::format("model.threads is {}, but a rank here may use {} CPUs: more threads than CPUs "
                  "are slower; 0 shares the CPUs among the ranks",
                  config.model.threads, cpus));
}

void check_matrix_unit(const TrainConfig& config, std::vector<std::string>& warnings) {
  if (config.model.device != "cpu-bf16" || has_matrix_unit()) return;
  warnings.emplace_back(
      "model.device is cpu-bf16, but this host's processor has no AMX: results are bit-identical "
      "to those with AMX, but cpu is faster");
}

/// The difference is measured in docs/benchmarks/gpu-first-run.md.
void check_rounding(const TrainConfig& config, std::vector<std::string>& warnings) {
  const std::string& device = config.model.device;
  const PolicyLossOptions& loss = config.policy_loss;
  if (device != "cuda" && !device.starts_with("cuda:")) return;
  const double range = chosen_surrogate(loss).range_above;
  if (loss.recompute_old_log_probs || range >= kNarrowRange) return;
  warnings.push_back(fmt::format(
      "model.device is {}, where sampler and learner round differently: by about 0.02 nats per "
      "token, and in a response's mean by more than the clip range of {}; set "
      "policy_loss.recompute_old_log_probs to true, or model.device to cuda-exact",
      device, range));
}

/// Finds a bound of the clip range that was chosen for the other level of importance ratio.
void check_clip_range(const TrainConfig& config, std::vector<std::string>& warnings) {
  const PolicyLossOptions& loss = config.policy_loss;
  const Surrogate surrogate = chosen_surrogate(loss);
  if (!is_bounded(surrogate)) return;
  const bool of_sequences = ratio_level(loss) == RatioLevel::kSequence;
  const auto is_foreign = [&](double range) {
    return !std::isinf(range) &&
           (of_sequences ? range > kWideForSequences : range < kNarrowForTokens);
  };
  const bool is_above = is_foreign(surrogate.range_above);
  if (!is_above && !is_foreign(surrogate.range_below)) return;
  const double range = is_above ? surrogate.range_above : surrogate.range_below;
  const char* side = is_above ? "above" : "below";
  warnings.push_back(fmt::format(
      "policy_loss: the clip range {} is one for {}; set auto, or another algorithm", range,
      of_sequences ? fmt::format("token ratios, but {} clips the ratio of whole sequences, which "
                                 "hardly leaves 1 ± 0.001: nothing will be clipped {} it",
                                 chosen_name(loss), side)
                   : fmt::format("sequence ratios, but {} clips the ratio of each token: after the "
                                 "first update nearly every token will be clipped {} 1",
                                 chosen_name(loss), side)));
}

/// Finds a warm-up that the run does not outlast, and a decay that ends before the run.
void check_schedule(const TrainConfig& config, std::vector<std::string>& warnings) {
  const OptimizerOptions& optimizer = config.optimizer;
  const char* unit = optimizer.schedule_per_step ? "step" : "update";
  const std::int64_t length = schedule_length(config);
  add(warmup_warning(optimizer.warmup, length, unit), warnings);
  if (optimizer.schedule == Schedule::kConstant || optimizer.decay_until >= length) return;
  warnings.push_back(fmt::format(
      "optimizer.decay_until is {}, but the run has {}: the others have {} of the learning rate "
      "(min_ratio); set it to {}",
      optimizer.decay_until, counted(length, unit), optimizer.min_ratio, length));
}

/// Finds mini-batches of unequal sizes, each of which is an update of its own.
void check_mini_batches(const TrainConfig& config, std::vector<std::string>& warnings) {
  const std::int64_t size = config.update.mini_batch_prompts;
  const std::int64_t rest = config.tickets.prompts_per_step % size;
  if (size > config.tickets.prompts_per_step || rest == 0) return;
  warnings.push_back(
      fmt::format("update.mini_batch_prompts {} does not divide rollout.prompts_per_step {}: the "
                  "last update of "
                  "a step has {}, each of which counts {:.1f} times as much as one of the others",
                  size, config.tickets.prompts_per_step, counted(rest, "prompt"),
                  static_cast<double>(size) / static_cast<double>(rest)));
}

/// Finds a goal that no evaluation reaches.
void check_goal(const TrainConfig& config, std::vector<std::string>& warnings) {
  const auto goal = parse_metric_condition(config.run.stop_when);
  if (!goal || goal->is_upper_bound || !goal->metric.starts_with("eval_accuracy")) return;
  if (goal->bound <= 1) return;
  warnings.push_back(
      fmt::format("run.stop_when: {} is a share from 0 to 1, so the run does not stop by \"{}\"",
                  goal->metric, goal->text));
}

/// Finds evaluations that are asked for and not made, or that cannot tell what they are for.
void check_evaluations(const TrainConfig& config, std::vector<std::string>& warnings) {
  if (config.evaluation.every == 0) {
    if (config.data.evaluation_file.empty()) return;
    warnings.emplace_back("evaluation.every is 0: data.evaluation_file is never evaluated");
    return;
  }
  add(greedy_warning(config.rollout.evaluation, config.evaluation.samples_per_prompt), warnings);
  const std::int64_t limit = config.rollout.evaluation.max_response_tokens;
  const auto cuts_nothing = [&](std::int64_t budget) { return budget >= limit; };
  if (!std::ranges::any_of(config.evaluation_budgets.budgets, cuts_nothing)) return;
  warnings.push_back(
      fmt::format("evaluation.budgets: budgets of at least "
                  "evaluation.max_response_tokens {} cut no response",
                  limit));
}

/// The cost is measured in docs/studies/staleness.md.
void check_staleness(const TrainConfig& config, std::vector<std::string>& warnings) {
  const PolicyLossOptions& loss = config.policy_loss;
  if (config.tickets.max_staleness == 0 || loss.recompute_old_log_probs) return;
  const double range = chosen_surrogate(loss).range_above;
  if (range >= kNarrowRange) return;
  warnings.push_back(fmt::format(
      "rollout.max_staleness is {}: stale responses are outside a clip range as narrow as {} and "
      "contribute nothing; set policy_loss.recompute_old_log_probs to true and tis_cap to 2",
      config.tickets.max_staleness, range));
}

/// Finds settings that differ from those of the papers of loss and advantage.
void check_departure(const TrainConfig& config, std::vector<std::string>& warnings) {
  const PolicyLossOptions& loss = config.policy_loss;
  std::string text = departure(loss);
  if (!text.empty()) warnings.push_back(std::move(text));
  const bool has_one_update = config.update.epochs == 1 &&
                              config.update.mini_batch_prompts >= config.tickets.prompts_per_step;
  const bool is_old_equal = loss.recompute_old_log_probs || config.tickets.max_staleness == 0;
  const Surrogate surrogate = chosen_surrogate(loss);
  for (std::string& each : departures(loss, RuleUse{surrogate, has_one_update && is_old_equal})) {
    warnings.push_back(std::move(each));
  }
  if (loss.recompute_old_log_probs && chosen_surrogate(loss).bounds_change_from_sampler) {
    warnings.push_back(fmt::format(
        "policy_loss.recompute_old_log_probs is true, but the bounds of {} are around the "
        "sampler's probabilities; set it to false",
        chosen_name(loss)));
  }
  const std::string wanted = wanted_aggregation(config.advantage);
  const char* found = name_of(aggregation(loss));
  if (!wanted.empty() && wanted != found) {
    warnings.push_back(
        fmt::format("policy_loss.aggregation is {}, but advantage.estimator {} is meant for {}",
                    found, config.advantage.estimator, wanted));
  }
}

}  // namespace

std::vector<std::string> config_warnings(const TrainConfig& config,
                                         std::span<const Prompt> training,
                                         std::span<const Prompt> evaluation) {
  std::vector<std::string> warnings = config.former_keys;
  check_sampling(config, warnings);
  check_data(config, training, warnings);
  check_evaluation_rows(config, training, evaluation, warnings);
  check_rewards(config, training, warnings);
  check_dynamic_sampling(config, warnings);
  add(learning_rate_warning(config.optimizer.learning_rate), warnings);
  add(template_warning(config.data.prompt_template, config.model.path), warnings);
  add(generation_warning(config.model.path), warnings);
  check_threads(config, warnings);
  check_matrix_unit(config, warnings);
  check_rounding(config, warnings);
  check_staleness(config, warnings);
  check_departure(config, warnings);
  check_clip_range(config, warnings);
  check_schedule(config, warnings);
  check_mini_batches(config, warnings);
  std::ranges::move(idle_key_warnings(config), std::back_inserter(warnings));
  check_goal(config, warnings);
  check_evaluations(config, warnings);
  add(truncation_warning(config, training, "training"), warnings);
  add(truncation_warning(config, evaluation, "evaluation"), warnings);
  return warnings;
}

std::string truncation_warning(const TrainConfig& config, std::span<const Prompt> prompts,
                               std::string_view kind) {
  const std::int64_t limit = config.rollout.max_prompt_tokens;
  std::optional<Tokenizer> tokenizer;  // loaded if a prompt may be too long
  const auto is_long = [&](const Prompt& prompt) {
    if (std::ssize(prompt.text) <= limit) return false;  // a token has at least a byte
    if (!tokenizer) tokenizer.emplace(Tokenizer::load(config.model.path));
    return std::ssize(tokenizer->encode(prompt.text)) > limit;
  };
  const auto count = std::ranges::count_if(prompts, is_long);
  if (count == 0) return "";
  return fmt::format(
      "{} of {} {} prompts are longer than rollout.max_prompt_tokens {} and will lose their first "
      "tokens",
      count, prompts.size(), kind, limit);
}

std::vector<std::string> curriculum_warnings(const TrainConfig& config,
                                             std::span<const PassPlan> plans) {
  if (config.data.accuracy_bands.empty()) return {};
  const auto size_of = [](const PassPlan& plan) {
    std::int64_t size = 0;
    for (const FileShare& file : plan) size += file.drawn;
    return size;
  };
  std::vector<std::string> warnings;
  const std::int64_t wanted = config.tickets.prompts_per_step, last = size_of(plans.back());
  if (last < wanted) {
    warnings.push_back(fmt::format(
        "data.accuracy_bands: the last band has {} prompts, fewer than rollout.prompts_per_step "
        "{}: a step repeats prompts, each as a group of its own; widen the band",
        last, wanted));
  }
  std::int64_t before = 0;  // prompts of the bands before the last
  for (const PassPlan& plan : plans.first(plans.size() - 1)) before += size_of(plan);
  const std::int64_t drawn = config.run.steps * wanted;
  if (drawn <= before && !config.tickets.dynamic_sampling.enabled) {
    warnings.push_back(
        fmt::format("data.accuracy_bands: the run draws {} prompts, and the bands before the last "
                    "have {}: the last is never reached; raise run.steps, or leave out bands",
                    drawn, before));
  }
  return warnings;
}

std::string template_warning(std::string_view prompt_template, const std::string& model_path) {
  if (prompt_template != "plain" || !has_chat_template(model_path)) return "";
  return fmt::format(
      "data.prompt_template is plain, but {} has a chat template, which a chat model expects: set "
      "it to model",
      model_path);
}

std::string generation_warning(const std::filesystem::path& model_directory) {
  const std::filesystem::path file = model_directory / "generation_config.json";
  if (!std::filesystem::exists(file)) return "";
  // Keys with the values by which they do nothing. Temperature, top_p and top_k are those of the
  // run.
  static const std::map<std::string, Json> kNeutral = {{"repetition_penalty", 1},
                                                       {"no_repeat_ngram_size", 0},
                                                       {"min_p", 0},
                                                       {"typical_p", 1},
                                                       {"suppress_tokens", {}},
                                                       {"begin_suppress_tokens", {}},
                                                       {"bad_words_ids", {}},
                                                       {"forced_bos_token_id", {}},
                                                       {"forced_eos_token_id", {}},
                                                       {"sequence_bias", {}},
                                                       {"stop_strings", {}},
                                                       {"min_new_tokens", 0},
                                                       {"min_length", 0},
                                                       {"num_beams", 1},
                                                       {"guidance_scale", 1},
                                                       {"epsilon_cutoff", 0},
                                                       {"eta_cutoff", 0},
                                                       {"penalty_alpha", 0},
                                                       {"encoder_repetition_penalty", 1},
                                                       {"exponential_decay_length_penalty", {}}};
  const Json config = read_json(file);
  std::vector<std::string> found;
  for (const auto& [key, neutral] : kNeutral) {
    const auto value = config.find(key);
    if (value == config.end() || value->is_null() || *value == neutral) continue;
    if (value->is_structured() && value->empty()) continue;
    found.push_back(key);
  }
  if (found.empty()) return "";
  return fmt::format("{} sets {}, which sampling here does not apply", file.string(),
                     fmt::join(found, ", "));
}

std::string warmup_warning(std::int64_t warmup, std::int64_t length, std::string_view unit) {
  if (warmup == 0 || length > warmup) return "";
  return fmt::format(
      "optimizer.warmup is {}, but the run has {}: it ends within the warm-up, and never reaches "
      "optimizer.learning_rate; lower it",
      warmup, counted(length, unit));
}

std::string learning_rate_warning(double rate) {
  constexpr double kTooLarge = 0.05;
  if (rate > 0 && rate < kTooLarge) return "";
  return fmt::format("optimizer.learning_rate is {}: {}; 1e-6 to 1e-3 are usual", rate,
                     rate > 0 ? "an update replaces the weights rather than improve them"
                              : "no update changes a weight");
}

std::string greedy_warning(const SamplingOptions& sampling, std::int64_t samples_per_prompt) {
  const bool is_greedy = sampling.temperature == 0 || sampling.top_k == 1;
  if (!is_greedy || samples_per_prompt < 2) return "";
  return fmt::format(
      "evaluation.{}: all {} responses to a prompt are equal, so pass@k and maj@k are pass@1; set "
      "evaluation.samples_per_prompt to 1, or {}",
      sampling.temperature == 0 ? "temperature is 0" : "top_k is 1", samples_per_prompt,
      sampling.temperature == 0 ? "a temperature above 0" : "top_k to 0");
}

}  // namespace lie
