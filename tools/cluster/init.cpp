#include "tools/cluster/init.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

#include "actors/rollout_options.h"
#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "common/config/config.h"
#include "common/dataset/dataset.h"
#include "common/text/counted.h"
#include "learner/trainer/trainer_options.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer.h"
#include "model/transformer/kv_cache.h"
#include "model/weights/adapter_file.h"
#include "model/weights/weights.h"
#include "tools/arguments/docs_page.h"
#include "tools/arguments/values.h"
#include "tools/cluster/commands.h"
#include "tools/cluster/init_probe.h"
#include "tools/cluster/row_arguments.h"
#include "tools/run/config/memory_plan.h"
#include "tools/run/config/train_config.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/input/prompts.h"
#include "tools/run/start/run_summary.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPromptsPerStep = 32;
constexpr std::int64_t kShortestFirstRun = 60, kLongestFirstRun = 200;  // steps
constexpr std::int64_t kProbedPrompts = 16;
constexpr double kLargestProbedModel = 1e9;  // parameters: beyond, a CPU takes too long
constexpr const char* kBoxed =
    "\n\nPlease reason step by step, and put your final answer within \\boxed{}.";

/// Sizes of a first run that fit the model and this machine.
struct RunSizes {
  RolloutOptions rollout;        // limits of prompts and responses, and the KV cache
  bool may_be_longer = false;    // the model reads longer responses
  double learner_gibibytes = 0;  // with the default micro-batch
  double actor_gibibytes = 0;
  double machine_gibibytes = 0;  // memory of this machine
};

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kLongestFirstResponse =
    1024;  // short, so that a first run shows results soon

std::int64_t rounded_up(std::int64_t n) { return (n + 15) / 16 * 16; }

std::int64_t machine_bytes() { return sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE); }

/// Returns the sizes for a longest prompt of `longest_prompt` tokens.
RunSizes run_sizes(const WeightsPlan& model, std::int64_t longest_prompt) {
  const auto gibibytes = [](auto bytes) { return static_cast<double>(bytes) / (1 << 30); };
  RunSizes sizes;
  RolloutOptions& rollout = sizes.rollout;
  const std::int64_t positions = model.config.max_positions;
  rollout.max_prompt_tokens = std::min(rounded_up(longest_prompt), positions / 2);
  rollout.sampling.max_response_tokens =
      std::min(kLongestFirstResponse, positions - rollout.max_prompt_tokens);
  rollout.evaluation = rollout.sampling;
  const std::int64_t longest = rollout.max_prompt_tokens + rollout.longest_response();
  sizes.may_be_longer = longest < positions;
  const std::int64_t wanted =
      rollout.slots * KvCache::pages_for(longest) * KvCache::page_elements(model.config) * kFloat;
  rollout.cache_mebibytes = std::max<std::int64_t>(64, std::min(wanted, machine_bytes() / 8) >> 20);
  const LearnerSizes learner{.micro_batch_tokens = TrainerOptions{}.max_micro_batch_tokens,
                             .copies_checkpoints = true,
                             .gradient_shards = TrainerOptions{}.gradient_shards};
  sizes.learner_gibibytes =
      gibibytes(learner_memory(model.config, DType::kFloat32, learner).bytes());
  sizes.actor_gibibytes = gibibytes(actor_memory(model.config, DType::kFloat32, rollout).bytes());
  sizes.machine_gibibytes = gibibytes(machine_bytes());
  return sizes;
}

/// What was found out about the model and the rows.
struct Findings {
  WeightsPlan model;
  RowOptions rows;
  std::string template_note;
  Dataset dataset;
  fs::path held_out = {};           // file of held-out prompts; empty: none
  std::string unusable = {};        // why a file of such a name was not taken; empty: there is none
  std::int64_t longest_prompt = 0;  // tokens
  std::optional<StartResponses> start = {};  // of the model as it is

  std::int64_t steps_of_epoch() const {
    return divided_up(std::ssize(dataset.prompts), kPromptsPerStep);
  }
  double parameters() const { return static_cast<double>(model.parameters); }
  bool has_reference_lengths() const {
    return std::ranges::all_of(dataset.prompts,
                               [](const Prompt& prompt) { return prompt.reference_length >= 0; });
  }
};

/// Chooses the model's own chat template, or "plain" if it has none or its template fails. A
/// template that --set gives stays.
void choose_template(const fs::path& model, Findings& found) {
  found.template_note = "as given";
  if (found.rows.prompt_template != RowOptions().prompt_template) return;
  found.template_note = "the model has no chat template";
  if (!has_chat_template(model)) return;
  try {
    prompt_template("model", model);
    found.rows.prompt_template = "model";
    found.template_note = "the model's chat template";
  } catch (const Error&) {
    found.template_note = fmt::format("the model's chat template cannot be run: is it one of {}?",
                                      fmt::join(template_names(), ", "));
  }
}

/// Returns whether most prompts request a box.
bool request_boxes(const std::vector<Prompt>& prompts) {
  const auto requests = [](const Prompt& prompt) {
    return prompt.text.find("\\boxed") != std::string::npos;
  };
  return 2 * std::ranges::count_if(prompts, requests) > std::ssize(prompts);
}

std::int64_t longest_of(const fs::path& model, const std::vector<Prompt>& prompts) {
  const Tokenizer tokenizer = Tokenizer::load(model);
  std::int64_t longest = 0;
  for (const Prompt& prompt : prompts) {
    longest = std::max(longest, std::ssize(tokenizer.encode(prompt.text)));
  }
  return longest;
}

/// Reads the file, and again if it adds a suffix: with a chat template, prompts that do not request
/// a box get a suffix that does.
void read_rows(const InitArguments& arguments, Findings& found) {
  found.rows = rows_to_find(arguments.overrides);
  choose_template(arguments.model, found);
  const auto read = [&] {
    found.dataset = read_remarked_prompts(arguments.data, found.rows, arguments.model);
    found.rows = found.dataset.options;
  };
  read();
  const bool may_ask = found.rows.prompt_template != "plain" && found.rows.prompt_suffix.empty();
  if (may_ask && !request_boxes(found.dataset.prompts)) {
    found.rows.prompt_suffix = kBoxed;
    read();
  }
  found.longest_prompt = longest_of(arguments.model, found.dataset.prompts);
}

/// Finds the file of held-out prompts next to the training data: of the same kind, named eval,
/// validation, test and so on, and with the same fields. Adds its longest prompt.
void find_evaluation(const InitArguments& arguments, Findings& found) {
  const fs::path& data = arguments.data;
  RowOptions rows = found.rows;
  rows.skip_bad_rows = !found.dataset.skipped.empty();  // as the config will say
  for (const char* name : {"eval", "evaluation", "validation", "valid", "val", "dev", "test"}) {
    fs::path file = data.parent_path() / name;
    file += data.extension();
    if (file == data || !fs::is_regular_file(file)) continue;
    try {
      const Dataset held_out = read_run_prompts(file, rows, arguments.model);
      found.longest_prompt =
          std::max(found.longest_prompt, longest_of(arguments.model, held_out.prompts));
      found.held_out = std::move(file);
      return;
    } catch (const Error& error) {
      found.unusable = error.what();
    }
  }
}

Findings findings(const InitArguments& arguments) {
  Findings found;
  if (const PolicyFiles policy = find_policy(arguments.model); !policy.adapter.empty()) {
    fail(
        "{}: is an adapter of {}; merge them first (lie_cluster merge), or name the base here, and "
        "in the config set model.adapter and model.lora",
        policy.adapter.string(), policy.base.string());
  }
  found.model = plan_weights(arguments.model);
  read_rows(arguments, found);
  end_tokens(arguments.model, found.rows.prompt_template);  // throws if the tokenizer does not fit
  find_evaluation(arguments, found);
  return found;
}

double rounded(double x) { return std::stod(fmt::format("{:.2g}", x)); }

/// Returns a setting of GSPO for a model of this size: `small` at the demo's 0.4 M parameters,
/// `large` at 1.7 B, where published runs have it, and the straight line in logarithms between.
double by_size(double parameters, double small, double large) {
  constexpr double kSmall = 0.413e6, kLarge = 1.7e9;
  const double place = std::log(parameters / kSmall) / std::log(kLarge / kSmall);
  return rounded(small * std::pow(large / small, std::clamp(place, 0.0, 1.0)));
}

/// Sets the optimizer and the loss as the demo does, with step sizes that fit the model.
void fit_to_size(double parameters, TrainConfig& config) {
  config.tickets.samples_per_prompt = 16;
  config.update.mini_batch_prompts = kPromptsPerStep / 4;
  config.policy_loss.algorithm = "gspo";
  ClipOptions& clip = config.policy_loss.of<ClipOptions>();
  clip.clip_low = by_size(parameters, 0.01, 3e-4);
  clip.clip_high = by_size(parameters, 0.013, 4e-4);
  config.policy_loss.kl_coefficient = parameters < 1e8 ? 0.01 : 0;
  OptimizerOptions& optimizer = config.optimizer;
  optimizer.learning_rate = by_size(parameters, 4e-4, 1e-6);
  optimizer.schedule = Schedule::kCosine;
  optimizer.schedule_per_step = true;
  optimizer.decay_until = config.run.steps;
  optimizer.min_ratio = 0.1;
  optimizer.beta2 = 0.95;
  optimizer.weight_decay = 0;
  optimizer.warmup = parameters < 1e8 ? 0 : 5;
}

/// Sets the response limit and the length reward by the lengths of the start policy.
void fit_to_lengths(const StartResponses& start, bool has_reference_lengths, TrainConfig& config) {
  std::int64_t& limit = config.rollout.sampling.max_response_tokens;
  const double delta = std::clamp(16 * std::round(start.mean_tokens / 16), 64.0, 512.0);
  const double wanted =
      std::max(1.5 * static_cast<double>(start.longest), start.mean_tokens + 2 * delta);
  limit = std::min(limit, rounded_up(static_cast<std::int64_t>(wanted)));
  const double half_of_room =
      16 * std::round((static_cast<double>(limit) - start.mean_tokens) / 2 / 16);
  fit_to_start(config.reward, start.mean_tokens, std::clamp(half_of_room, 16.0, delta),
               has_reference_lengths);
}

/// Returns whether the model is correct too rarely for the length reward, which pays for incorrect
/// responses: below this share they would decide every gradient.
bool is_rarely_correct(const Findings& found) {
  constexpr double kRarely = 0.05;
  if (!found.start || found.start->responses == 0) return false;
  return static_cast<double>(found.start->correct) <
         kRarely * static_cast<double>(found.start->responses);
}

void name_evaluation(const fs::path& file, TrainConfig& config) {
  if (file.empty()) return;
  config.data.evaluation_file = {file.string()};
  config.evaluation.every = 10;
  config.rollout.evaluation.temperature = config.rollout.sampling.temperature;
}

TrainConfig config_of(const InitArguments& arguments, const Findings& found,
                      const RunSizes& sizes) {
  TrainConfig config;
  config.run.directory = (fs::path("runs") / arguments.data.stem()).string();
  config.run.steps = std::clamp(found.steps_of_epoch(), kShortestFirstRun, kLongestFirstRun);
  config.model.path = arguments.model.string();
  static_cast<RowOptions&>(config.data) = found.rows;
  config.data.skip_bad_rows = !found.dataset.skipped.empty();
  config.data.train_file = {arguments.data.string()};
  config.tickets.prompts_per_step = kPromptsPerStep;
  config.rollout.max_prompt_tokens = sizes.rollout.max_prompt_tokens;
  config.rollout.sampling.max_response_tokens = sizes.rollout.longest_response();
  config.rollout.cache_mebibytes = sizes.rollout.cache_mebibytes;
  config.checkpoint.every = 10;
  fit_to_size(found.parameters(), config);
  fit_to_limit(config.reward, sizes.rollout.longest_response());
  if (found.start && found.start->shows_lengths()) {
    fit_to_lengths(*found.start, found.has_reference_lengths(), config);
  }
  if (found.start && found.start->words_per_token < 0.5) {
    config.reward.coverage = {.unit = CoverageUnit::kTokens, .ngram = 6};
  }
  if (is_rarely_correct(found)) switch_off(config.reward, "length");
  name_evaluation(found.held_out, config);
  return config;
}

void add_comments(const StartResponses& start, bool has_reference_lengths,
                  ConfigComments& comments) {
  if (start.words_per_token < 0.5) {
    comments["reward.coverage.unit"] =
        fmt::format("{:.2f} words a token: n-grams of words would be long", start.words_per_token);
  }
  if (!start.shows_lengths()) return;
  comments["rollout.max_response_tokens"] =
      fmt::format("longest response of the start policy: {}", start.longest);
  const std::string target =
      fmt::format("incorrect answers below L_target pay; L_ref is {:.0f} here", start.mean_tokens);
  comments[has_reference_lengths ? "reward.length.delta_tokens" : "reward.length.target_tokens"] =
      target;
  comments["reward.length.eta"] = "an incorrect answer as short as the start policy's loses 0.75";
}

std::string evaluation_comment(const Findings& found) {
  if (!found.held_out.empty()) return "held-out prompts, found beside the training data";
  if (!found.unusable.empty()) return "not taken: " + found.unusable;
  return "none found; with one, add evaluation: {every: 10}";
}

ConfigComments comments(const Findings& found) {
  const ModelConfig& model = found.model.config;
  ConfigComments comments = {
      {"run.steps", fmt::format("an epoch has {}", found.steps_of_epoch())},
      {"model.path", fmt::format("{}, {:.1f} M parameters", model.architecture,
                                 static_cast<double>(found.model.parameters) / 1e6)},
      {"data.train_file", counted(std::ssize(found.dataset.prompts), "prompt")},
      {"data.evaluation_file", evaluation_comment(found)},
      {"data.prompt_template", found.template_note},
      {"rollout.samples_per_prompt", "responses to each prompt: a group"},
      {"rollout.max_prompt_tokens", fmt::format("the longest has {}", found.longest_prompt)},
      {"rollout.max_response_tokens",
       fmt::format("the model reads {} positions", model.max_positions)},
      {"rollout.cache_mebibytes", "KV cache of an actor"},
      {"policy_loss.clip_low", "by model size: the ratio's change in an update"},
      {"optimizer.learning_rate", "by model size; halve it if accuracy collapses"},
      {"optimizer.decay_until", "cosine over the whole run"}};
  if (found.parameters() < 1e8) {
    comments["policy_loss.kl_coefficient"] = "to the start policy: keeps what it can do";
  }
  if (found.start) add_comments(*found.start, found.has_reference_lengths(), comments);
  if (is_rarely_correct(found)) {
    comments["reward.length.enabled"] =
        "below 5 % correct it would reward length alone; switch it on later";
  }
  if (!found.rows.prompt_suffix.empty()) {
    comments["data.prompt_suffix"] = "the verifier looks for the answer in a box";
  }
  return comments;
}

/// Returns why RL cannot begin with these responses, and the remedy; empty if it can.
std::string obstacle(const StartResponses& start, const RunSizes& sizes) {
  if (start.correct > 0 && start.cut < start.responses) return "";
  const std::string why = start.cut == start.responses ? "every response is cut at the limit"
                                                       : "no response is correct";
  const std::string longer =
      start.cut > 0 && sizes.may_be_longer ? "raise rollout.max_response_tokens, " : "";
  return fmt::format(
      "{}: {}fine-tune first (lie_cluster sft), or check data.gold_field and data.prompt_template",
      why, longer);
}

std::string start_text(const StartResponses& start) {
  const double all = static_cast<double>(start.responses) / 100;
  return fmt::format(
      "# The model as it is, in {} to {}: {:.0f} % correct, {:.0f} % cut at the "
      "limit,\n# {:.0f} tokens on average; prompts with correct and incorrect ones: {}.\n",
      counted(start.responses, "response"), counted(start.prompts, "prompt"),
      static_cast<double>(start.correct) / all, static_cast<double>(start.cut) / all,
      start.mean_tokens, start.mixed);
}

/// Returns what the user should know before a run, a sentence each.
std::vector<std::string> warnings(const Findings& found, const RunSizes& sizes) {
  std::vector<std::string> all = found.dataset.remarks;
  const std::string skipped = skipped_rows_text(found.dataset);
  if (!skipped.empty()) all.push_back(skipped);
  const std::string why = found.start ? obstacle(*found.start, sizes) : "";
  if (!why.empty()) all.push_back("RL CANNOT START FROM HERE: " + why);
  return all;
}

std::string head(const Findings& found, const RunSizes& sizes,
                 const std::vector<std::string>& switched_off) {
  std::string text = fmt::format(
      "# Written by lie_cluster init. Every key: lie_cluster train --help all. Start it with\n"
      "#   mpirun --oversubscribe -n 4 {}\n"
      "# and plain GSPO for comparison, because LIE helps only where a longer search does:\n"
      "# {}\n"
      "# This says before a run whether it does here:\n"
      "#   {}\n",
      next_command_entry("lie_cluster", "train", {"THIS_FILE"}).value,
      docs_page("how-to/choose-reward-settings.md"),
      next_command_entry("lie_cluster", "forecast", {"THIS_FILE"}).value);
  text += fmt::format(
      "# Memory: a learner {:.2f} GiB, an actor {:.2f} GiB; this machine has {:.0f} GiB.\n",
      sizes.learner_gibibytes, sizes.actor_gibibytes, sizes.machine_gibibytes);
  if (sizes.learner_gibibytes + sizes.actor_gibibytes > sizes.machine_gibibytes) {
    text += "# This machine has too little: spread the ranks over hosts, or use a smaller model.\n";
  }
  if (found.start) text += start_text(*found.start);
  for (const std::string& why : switched_off) text += fmt::format("# Switched off: {}\n", why);
  for (const std::string& warning : warnings(found, sizes)) {
    text += fmt::format("# Warning: {}\n", warning);
  }
  return text;
}

/// Switches off the reward terms for which some prompt lacks a field. Returns the reasons.
std::vector<std::string> switch_off(const Dataset& dataset, RewardOptions& reward) {
  std::vector<std::string> why;
  for (const Prompt& prompt : dataset.prompts) {
    Ticket ticket;
    ticket.prompt = prompt;
    for (std::string& text : switch_off_unscorable(reward, ticket)) why.push_back(std::move(text));
  }
  return why;
}

/// Samples responses to prompts from all over the data.
StartResponses probe(const InitArguments& arguments, const Findings& found, const RunSizes& sizes) {
  const std::vector<Prompt>& all = found.dataset.prompts;
  const auto count = std::min<std::size_t>(all.size(), kProbedPrompts);
  std::vector<Prompt> prompts;
  for (std::size_t i = 0; i < count; ++i) prompts.push_back(all[i * all.size() / count]);
  RolloutOptions rollout = sizes.rollout;
  rollout.end_of_sequence_ids = end_tokens(arguments.model, found.rows.prompt_template).ids;
  std::cerr << fmt::format("sampling {} to each of {}, {} tokens at most; --samples 0 skips this\n",
                           counted(arguments.samples, "response"),
                           counted(std::ssize(prompts), "prompt"), rollout.longest_response());
  return sample_start({.path = arguments.model.string()}, prompts, arguments.samples, rollout);
}

}  // namespace

std::string initial_config(const InitArguments& arguments) {
  Findings found = findings(arguments);
  const RunSizes sizes = run_sizes(found.model, found.longest_prompt);
  if (arguments.samples > 0 && found.parameters() <= kLargestProbedModel) {
    found.start = probe(arguments, found, sizes);
  }
  for (const std::string& warning : warnings(found, sizes)) print_warning(warning);
  TrainConfig config;
  const FieldList fields = fields_of(config);  // while it holds the defaults
  config = config_of(arguments, found, sizes);
  const std::vector<std::string> why = switch_off(found.dataset, config.reward);
  return head(found, sizes, why) + dump_changes(fields, comments(found));
}

void add_init(CLI::App& program, ProcessCommand& chosen) {
  const auto arguments = std::make_shared<InitArguments>();
  CLI::App* command = program.add_subcommand(
      "init", "A first config for a model and a data file: lie_cluster init MODEL DATA > my.yaml");
  command->add_option("MODEL_DIR", arguments->model, "Hugging Face directory")->required();
  command->add_option("FILE", arguments->data, "JSONL or Parquet, a prompt a row")->required();
  add_integer(*command, "--samples", arguments->samples,
              "Responses to each of 16 prompts, by which lengths and limits are chosen; 0: none. A "
              "model of more than a billion parameters gives none",
              0, 1024);
  add_row_overrides(*command, arguments->overrides);
  command->callback(
      [&chosen, arguments] { chosen = [=] { std::cout << initial_config(*arguments); }; });
}

}  // namespace lie
