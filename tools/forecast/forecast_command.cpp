#include "tools/forecast/forecast_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/process/log.h"
#include "common/rollout/prompt_stream.h"
#include "common/text/printable.h"
#include "model/tokenizer/tokenizer.h"
#include "rewards/reward_worker.h"
#include "tools/arguments/config_command.h"
#include "tools/arguments/values.h"
#include "tools/forecast/chance.h"
#include "tools/forecast/forecast.h"
#include "tools/forecast/forecast_page.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/config/train_config.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/input/prompts.h"
#include "tools/run/roles/generation.h"
#include "tools/run/roles/group_progress.h"
#include "verifier/verify.h"

namespace lie {
namespace {

/// Responses may grow to this multiple of the training limit, so that a gain is not measured at the
/// limit.
constexpr std::int64_t kLimitFactor = 4;

struct ForecastArguments {
  ConfigArguments config;  // of the training run
  std::int64_t prompts = 256;
  std::int64_t samples = 8;
  std::vector<std::int64_t>
      lengths;  // forced lengths; empty: halfway to the target, and the target
  std::filesystem::path json, html;
  bool exit_code = false;  // exit with exit_status()
};

/// Returns the tokens of the vocabulary that name a box: a response states its answer with one, so
/// it is barred with the ends.
std::vector<std::int64_t> box_tokens(const Tokenizer& tokenizer, std::int64_t vocabulary) {
  std::vector<std::int64_t> ids;
  for (std::int32_t id = 0; id < vocabulary; ++id) {
    const std::string text = tokenizer.decode(std::span(&id, 1), /*skip_special=*/false);
    if (text.find("boxed") != std::string::npos) ids.push_back(id);
  }
  return ids;
}

/// Returns the options of a sampling pass in which no response ends before `min_tokens`.
GenerationOptions generation_of(const TrainConfig& config, const EndTokens& ends,
                                const std::vector<std::int64_t>& boxes, std::int64_t min_tokens) {
  const ModelConfig model = load_model_config(config.model.path);
  GenerationOptions options{.model = config.model,
                            .rollout = config.rollout,
                            .seed = static_cast<std::uint64_t>(config.run.seed),
                            .keep_binding = config.roles.keep_binding};
  RolloutOptions& rollout = options.rollout;
  rollout.end_of_sequence_ids = ends.ids;
  rollout.barred_ids.insert(rollout.barred_ids.end(), boxes.begin(), boxes.end());
  rollout.evaluation = rollout.sampling;
  std::int64_t& limit = rollout.evaluation.max_response_tokens;
  const std::int64_t wanted = kLimitFactor * limit;
  limit = std::min(wanted, model.max_positions - rollout.max_prompt_tokens);
  if (min_tokens > limit) {
    fail(
        "a forced length of {} tokens is more than the forecast's limit of {} ({}): choose others "
        "with --lengths",
        min_tokens, limit,
        limit < wanted ? "the model's positions less rollout.max_prompt_tokens"
                       : "four times rollout.max_response_tokens");
  }
  rollout.evaluation.min_response_tokens = min_tokens;
  rollout.sampling = rollout.evaluation;
  return options;
}

/// Samples on rank 0, with the help of the other ranks, and verifies.
class Probe {
 public:
  /// Keeps a reference to the tokenizer.
  Probe(Job& job, const TrainConfig& config, const Tokenizer& tokenizer, std::int64_t samples,
        std::vector<Prompt> prompts)
      : job_(job),
        tokenizer_(tokenizer),
        scorer_(scoring_options(config),
                {.rank = job.rank(), .poll_progress = [&job] { job.poll_progress(); }}),
        measures_chance_(config.verifier_program.command.empty() && config.reward.command.empty()),
        is_correct_(
            [verifier = config.verifier](const std::string& gold, const std::string& answer) {
              return verify(gold, fmt::format("\\boxed{{{}}}", answer), verifier).correct();
            }),
        samples_(samples),
        prompts_(std::move(prompts)) {}

  /// The responses of a pass, and the chances of the prompts.
  struct Pass {
    std::vector<PromptSamples> prompts;
    std::vector<double> chances;  // empty if a program verifies
  };

  /// Returns the responses to each prompt. `pass` numbers the random streams.
  Pass sample(const GenerationOptions& options, std::int64_t pass) {
    std::deque<Ticket> tickets;
    for (std::int64_t group = 0; const Prompt& prompt : prompts_) {
      tickets.push_back({.step = pass,
                         .group = group++,
                         .purpose = Purpose::kEvaluate,
                         .samples = static_cast<std::int32_t>(samples_),
                         .prompt = prompt});
    }
    Pass found{.prompts = std::vector<PromptSamples>(prompts_.size()), .chances = {}};
    std::vector<AnsweredPrompt> answered(prompts_.size());
    GroupProgress progress(stderr, std::ssize(prompts_), /*before=*/0,
                           {.responses = samples_ * std::ssize(prompts_),
                            .limit = options.rollout.longest_response(),
                            .in_flight = options.rollout.slots * job_.size()});
    generate_over_ranks(
        job_, options, std::move(tickets),
        [&](RolloutGroup group) {
          return score_group(scorer_, std::move(group), [&](std::span<const std::int32_t> ids) {
            return tokenizer_.response_text(ids);
          });
        },
        [&](const ScoredGroup& group) {
          const auto number = static_cast<std::size_t>(group.rollout.ticket.group);
          found.prompts[number] = samples_of(group);
          answered[number] = answers_of(group);
          progress.add(group.rollout,
                       std::ranges::count(group.scores, VerdictCode::kEqual, &Score::verdict));
        },
        [&](std::int64_t tokens) { progress.sampled(tokens); });
    progress.finish();
    if (measures_chance_) found.chances = chances_of(answered, is_correct_);
    return found;
  }

  void finish() { scorer_.finish(); }

 private:
  static PromptSamples samples_of(const ScoredGroup& group) {
    PromptSamples samples;
    for (std::size_t i = 0; i < group.scores.size(); ++i) {
      const Response& response = group.rollout.responses[i];
      samples.push_back({.tokens = static_cast<double>(response.ids.size()),
                         .correct = group.scores[i].verdict == VerdictCode::kEqual,
                         .cut = response.finish == FinishReason::kLength});
    }
    return samples;
  }

  static AnsweredPrompt answers_of(const ScoredGroup& group) {
    const Prompt& prompt = group.rollout.ticket.prompt;
    AnsweredPrompt answered{.data_source = prompt.data_source, .gold = prompt.gold, .answers = {}};
    for (const Score& score : group.scores) answered.answers.push_back(score.extracted);
    return answered;
  }

  Job& job_;
  const Tokenizer& tokenizer_;
  Scorer scorer_;
  bool measures_chance_;  // the built-in verifier decides
  IsCorrect is_correct_;
  std::int64_t samples_;
  std::vector<Prompt> prompts_;
};

/// Returns the run's length target for a prompt with this natural length. Throws Error if no reward
/// term has one.
double target_of(const TrainConfig& config, double natural_tokens) {
  Ticket ticket;
  ticket.prompt.reference_length = natural_tokens;
  for (const RewardTerm& term :
       reward_terms(config.reward, config.rollout.sampling.max_response_tokens)) {
    if (term.target_length) return term.target_length(ticket);
  }
  fail("no reward term has a length target: choose the forced lengths with --lengths");
}

/// Returns the forced lengths: those of the arguments, or the target and the length halfway to it.
std::vector<std::int64_t> lengths_of(const ForecastArguments& arguments, const TrainConfig& config,
                                     double natural_tokens) {
  std::vector<std::int64_t> lengths = arguments.lengths;
  if (lengths.empty()) {
    const double target = target_of(config, natural_tokens);
    lengths = {std::llround((natural_tokens + target) / 2), std::llround(target)};
  }
  std::ranges::sort(lengths);
  const auto repeated = std::ranges::unique(lengths);
  lengths.erase(repeated.begin(), repeated.end());
  return lengths;
}

/// Removes prompts that repeat the text and the gold of an earlier one, since an interval over
/// prompts takes them as independent. Returns how many.
std::int64_t drop_repeats(std::vector<Prompt>& prompts) {
  std::set<std::pair<std::string, std::string>> seen;
  return static_cast<std::int64_t>(std::erase_if(prompts, [&](const Prompt& prompt) {
    return !seen.emplace(prompt.text, prompt.gold).second;
  }));
}

/// Returns the first `count` prompts of each evaluation file, or those that training draws first.
/// Each is different.
std::vector<Prompt> prompts_of(const TrainConfig& config, std::int64_t count) {
  const Log log("forecast", 0);
  std::vector<Prompt> prompts;
  const bool held_out = !config.data.evaluation_file.empty();
  if (held_out) {
    prompts = read_evaluation_prompts(config.data.evaluation_file, count, config.data,
                                      config.model.path, log);
  } else {
    PromptStream stream(read_training_prompts(config.data, config.model.path, &log),
                        prompt_order(config.data, static_cast<std::uint64_t>(config.run.seed)));
    prompts = stream.next(std::min(count, stream.problems_in(1)));
  }
  if (const std::int64_t repeats = drop_repeats(prompts); repeats > 0) {
    log.warn("{} of {} rows repeat the prompt and gold of another and are left out", repeats,
             repeats + std::ssize(prompts));
  }
  log.warn_if_any(truncation_warning(config, prompts, held_out ? "evaluation" : "training"));
  log.warn_if_any(template_warning(config.data.prompt_template, config.model.path));
  log.warn_if_any(generation_warning(config.model.path));
  return prompts;
}

void report(const Forecast& forecast, const ForecastArguments& arguments) {
  std::fputs(printable(forecast_text(forecast)).c_str(), stdout);
  std::fflush(stdout);
  if (!arguments.json.empty()) {
    write_file_atomically(arguments.json, forecast_json(forecast).dump(1) + "\n");
  }
  if (!arguments.html.empty()) {
    write_file_atomically(arguments.html, forecast_page(forecast, arguments.config.config));
  }
}

/// Samples the start policy at its natural length and at forced lengths, and reports whether length
/// incentives will help. The result does not depend on the number of ranks. A killed forecast
/// begins anew. Collective over the world. Throws Error.
void make_forecast(Job& job, const ForecastArguments& arguments) {
  job.set_role("actor");
  job.set_activity("preparing");
  const TrainConfig config = load_train_config(arguments.config.config, arguments.config.overrides);
  const EndTokens ends = end_tokens(config.model.path, config.data.prompt_template, config.rollout);
  const Tokenizer tokenizer = Tokenizer::load(config.model.path);
  const std::vector<std::int64_t> boxes =
      box_tokens(tokenizer, load_model_config(config.model.path).vocabulary);
  const auto world = world_collective(job);
  const auto options_at = [&](std::int64_t tokens) {
    return generation_of(config, ends, boxes, tokens);
  };
  for (const std::int64_t tokens : arguments.lengths) options_at(tokens);  // checks them
  std::vector<std::int64_t> lengths;
  if (job.rank() > 0) {
    run_generation_actor(job, options_at(0));
    broadcast_values(*world, lengths);
    for (const std::int64_t length : lengths) run_generation_actor(job, options_at(length));
    return;
  }
  Log("forecast", 0).warn_each(config.former_keys);
  const PolicyFiles policy = policy_files(config.model);
  check_base(policy);
  Log("forecast", 0).warn_each(adapter_remarks(policy));
  Probe probe(job, config, tokenizer, arguments.samples, prompts_of(config, arguments.prompts));
  Probe::Pass natural = probe.sample(options_at(0), 0);
  ForecastSamples samples{.natural = std::move(natural.prompts),
                          .chances = std::move(natural.chances)};
  lengths = lengths_of(arguments, config, mean_tokens(samples.natural));
  broadcast_values(*world, lengths);
  for (const std::int64_t length : lengths) {
    const auto pass = 1 + std::ssize(samples.forced);
    Probe::Pass forced = probe.sample(options_at(length), pass);
    samples.forced.push_back({length, std::move(forced.prompts), std::move(forced.chances)});
  }
  probe.finish();
  const Forecast forecast = forecast_of(samples);
  report(forecast, arguments);
  if (arguments.exit_code) job.set_finished_status(exit_status(forecast.outcome));
}

}  // namespace

void add_forecast(CLI::App& program, JobCommand& chosen) {
  const auto arguments = std::make_shared<ForecastArguments>();
  CLI::App* command =
      program.add_subcommand("forecast",
                             "Measure before a run whether longer responses are more accurate: "
                             "samples the start policy at its natural length and at forced "
                             "lengths; also under mpirun");
  add_config(*command, arguments->config, explain_config_of<TrainConfig>);
  add_integer(*command, "--prompts", arguments->prompts,
              "Prompts to sample of each file of data.evaluation_file or, without one, as training "
              "draws them",
              2);
  add_integer(*command, "--samples", arguments->samples, "Responses to each prompt and length", 2);
  command
      ->add_option("--lengths", arguments->lengths,
                   "Forced lengths in tokens [the length target, and halfway to it]")
      ->delimiter(',')
      ->check(integers(1));
  command->add_option("--json", arguments->json, "File for the figures")->check(output_file());
  command->add_option("--html", arguments->html, "File for the picture")->check(output_file());
  command->add_flag("--exit-code", arguments->exit_code,
                    "Exit with 0 if length pays, 10 if responses lengthen by themselves, 11 if "
                    "length does not pay, 12 if that is undecided");
  command->callback(
      [&chosen, arguments] { chosen = [=](Job& job) { make_forecast(job, *arguments); }; });
}

}  // namespace lie
