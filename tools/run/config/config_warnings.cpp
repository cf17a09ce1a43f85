#include "tools/run/config/config_warnings.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "common/comm/environment.h"
#include "model/operators/operators.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer.h"

namespace lie {
namespace {

constexpr double kNarrowRange = 0.1;  // as of sequence ratios, whose deviations are small

/// Returns what becomes of the advantage in a group of one.
std::string_view result_of_single_samples(std::string_view estimator) {
  if (estimator == GroupRelativeOptions::kName) {
    return ", so its advantage is its reward itself, without a baseline";
  }
  if (estimator == MaxRlOptions::kName) return ", so its advantage is 0 and it teaches nothing";
  return "";
}

void check_sampling(const TrainConfig& config, std::vector<std::string>& warnings) {
  if (config.tickets.samples_per_prompt == 1) {
    warnings.push_back(
        fmt::format("rollout.samples_per_prompt is 1: a response is compared with no other{}; 8 or "
                    "16 are usual",
                    result_of_single_samples(config.advantage.estimator)));
  }
  const SamplingOptions& sampling = config.rollout.sampling;
  if (sampling.top_p < 1 || sampling.top_k > 0) {
    warnings.emplace_back(
        "rollout.top_p below 1 and rollout.top_k sample from a truncated distribution, but the "
        "log-probs that training uses are those of the full one: the update is off policy, and no "
        "importance ratio corrects it; use 1 and 0");
  }
}

void check_data(const TrainConfig& config, std::span<const Prompt> training,
                std::vector<std::string>& warnings) {
  if (std::ssize(training) < config.tickets.prompts_per_step) {
    warnings.push_back(
        fmt::format("{} has {} prompts, fewer than rollout.prompts_per_step {}: a step repeats "
                    "prompts, each as a group of its own; is it the file that you meant?",
                    config.data.train_file, training.size(), config.tickets.prompts_per_step));
  }
  std::set<std::string_view> distinct;
  for (const Prompt& prompt : training) distinct.insert(prompt.text);
  if (2 * distinct.size() < training.size()) {
    warnings.push_back(
        fmt::format("{} has {} prompts, of which only {} differ; is it the file that "
                    "you meant?",
                    config.data.train_file, training.size(), distinct.size()));
  }
  if (std::ranges::count(config.data.evaluation_file, config.data.train_file) > 0) {
    warnings.emplace_back(
        "data.evaluation_file is the training file: evaluations show what was learned by heart");
  }
}

/// Finds rates at which no run learns.
void check_learning_rate(const TrainConfig& config, std::vector<std::string>& warnings) {
  constexpr double kTooLarge = 0.05;
  const double rate = config.optimizer.learning_rate;
  if (rate > 0 && rate < kTooLarge) return;
  warnings.push_back(fmt::format("optimizer.learning_rate is {}: {}; 1e-6 to 1e-3 are usual", rate,
                                 rate > 0
                                     ? "an update replaces the weights rather than improve them"
                                     : "no update changes a weight"));
}

void check_template(const TrainConfig& config, std::vector<std::string>& warnings) {
  if (config.data.prompt_template != "plain" || !has_chat_template(config.model.path)) return;
  warnings.push_back(
      fmt::format("data.prompt_template is plain, but {} has a chat template, which a chat model "
                  "expects: set it to model",
                  config.model.path));
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

void check_prompts(const TrainConfig& config, std::span<const Prompt> training,
                   std::vector<std::string>& warnings) {
  const std::int64_t limit = config.rollout.max_prompt_tokens;
  std::optional<Tokenizer> tokenizer;  // loaded if a prompt may be too long
  const auto is_long = [&](const Prompt& prompt) {
    if (std::ssize(prompt.text) <= limit) return false;  // a token has at least a byte
    if (!tokenizer) tokenizer.emplace(Tokenizer::load(config.model.path));
    return std::ssize(tokenizer->encode(prompt.text)) > limit;
  };
  const auto count = std::ranges::count_if(training, is_long);
  if (count == 0) return;
  warnings.push_back(
      fmt::format("{} of {} training prompts are longer than rollout.max_prompt_tokens {} and will "
                  "lose their first tokens",
                  count, training.size(), limit));
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

/// Finds settings that differ from those of the loss's paper.
void check_departure(const TrainConfig& config, std::vector<std::string>& warnings) {
  std::string text = departure(config.policy_loss);
  if (!text.empty()) warnings.push_back(std::move(text));
}

/// Finds keys that are set but have no effect because of other keys.
void check_idle_keys(const TrainConfig& config, std::vector<std::string>& warnings) {
  const PolicyLossOptions& loss = config.policy_loss;
  const std::int64_t limit = config.rollout.evaluation.max_response_tokens;
  const auto cuts_nothing = [&](std::int64_t budget) { return budget >= limit; };
  if (loss.tis_cap == 0 &&
      (loss.tis_level != TisLevel::kToken || loss.tis_beyond != BeyondCap::kTruncate)) {
    warnings.emplace_back(
        "policy_loss.tis_cap is 0: tis_level and tis_beyond have no effect; 2 is usual");
  }
  if (config.evaluation.every == 0 && !config.data.evaluation_file.empty()) {
    warnings.emplace_back("evaluation.every is 0: data.evaluation_file is never evaluated");
  }
  if (config.evaluation.every > 0 &&
      std::ranges::any_of(config.evaluation_budgets.budgets, cuts_nothing)) {
    warnings.push_back(
        fmt::format("evaluation.budgets: budgets of at least "
                    "evaluation.max_response_tokens {} cut no response",
                    limit));
  }
}

}  // namespace

std::vector<std::string> config_warnings(const TrainConfig& config,
                                         std::span<const Prompt> training) {
  std::vector<std::string> warnings = config.former_keys;
  check_sampling(config, warnings);
  check_data(config, training, warnings);
  check_learning_rate(config, warnings);
  check_template(config, warnings);
  check_threads(config, warnings);
  check_matrix_unit(config, warnings);
  check_rounding(config, warnings);
  check_staleness(config, warnings);
  check_departure(config, warnings);
  check_idle_keys(config, warnings);
  check_prompts(config, training, warnings);
  return warnings;
}

}  // namespace lie
