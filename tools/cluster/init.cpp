#include "tools/cluster/init.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <memory>

#include "actors/rollout_options.h"
#include "common/base/divided_up.h"
#include "common/base/error.h"
#include "common/config/config.h"
#include "common/dataset/dataset.h"
#include "common/dataset/field_names.h"
#include "learner/update/batch.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer.h"
#include "model/weights/weights.h"
#include "tools/cluster/commands.h"
#include "tools/run/config/memory_plan.h"
#include "tools/run/config/train_config.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPromptsPerStep = 32;
constexpr std::int64_t kLongestFirstRun = 200;  // steps
constexpr const char* kBoxed =
    "\n\nPlease reason step by step, and put your final answer within \\boxed{}.";

/// Sizes of a first run that fit the model and this machine.
struct RunSizes {
  std::int64_t max_prompt_tokens = 0, max_response_tokens = 0;
  std::int64_t cache_mebibytes = 0;  // KV cache of an actor
  double learner_gibibytes = 0;      // learner_memory() with the default micro-batch
  double actor_gibibytes = 0;        // weights and KV cache
  double machine_gibibytes = 0;      // memory of this machine
};

constexpr double kGibibyte = 1 << 30;
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kLongestFirstResponse =
    1024;  // short, so that a first run shows results soon

std::int64_t rounded_up(std::int64_t n) { return (n + 15) / 16 * 16; }

double machine_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Returns the bytes of the fp32 keys and values of one position.
std::int64_t kv_bytes(const ModelConfig& model) {
  return 2 * 4 * model.layers * model.kv_heads * model.head_width;
}

/// Returns the sizes for a longest prompt of `longest_prompt` tokens.
RunSizes run_sizes(const WeightsPlan& model, std::int64_t longest_prompt) {
  RunSizes sizes;
  const std::int64_t positions = model.config.max_positions;
  sizes.max_prompt_tokens = std::min(rounded_up(longest_prompt), positions / 2);
  sizes.max_response_tokens = std::min(kLongestFirstResponse, positions - sizes.max_prompt_tokens);
  const std::int64_t wanted = RolloutOptions{}.slots * kv_bytes(model.config) *
                              (sizes.max_prompt_tokens + sizes.max_response_tokens);
  const auto eighth = static_cast<std::int64_t>(machine_bytes() / 8);
  sizes.cache_mebibytes = std::max<std::int64_t>(64, std::min(wanted, eighth) / kMebibyte);
  const LearnerSizes learner{.micro_batch_tokens = BatchOptions{}.max_micro_batch_tokens,
                             .copies_checkpoints = true,
                             .gradient_shards = BatchOptions{}.gradient_shards};
  const auto learner_bytes = learner_memory(model.config, DType::kFloat32, learner).bytes();
  sizes.learner_gibibytes = static_cast<double>(learner_bytes) / kGibibyte;
  const auto weights = 2 * static_cast<double>(model.memory_bytes);  // fp32, and again in panels
  sizes.actor_gibibytes = weights / kGibibyte + static_cast<double>(sizes.cache_mebibytes) / 1024;
  sizes.machine_gibibytes = machine_bytes() / kGibibyte;
  return sizes;
}

/// What was found out about the model and the rows.
struct Findings {
  WeightsPlan model;
  RowOptions rows;
  std::string template_note;
  Dataset dataset;
  std::int64_t longest_prompt = 0;  // tokens

  std::int64_t steps_of_epoch() const {
    return divided_up(std::ssize(dataset.prompts), kPromptsPerStep);
  }
};

/// Returns `field`, or "" if the program looks for this field by default.
std::string unless_default(const std::string& field,
                           std::initializer_list<const char*> looked_for) {
  return std::ranges::find(looked_for, field) == looked_for.end() ? field : "";
}

void name_fields(const JsonRow& row, RowOptions& options) {
  const FieldNames names = guess_fields(row);
  if (names.prompt.empty() || names.gold.empty()) {
    fail(
        "{}: found no field that looks like {}; {}; write the config by hand, with "
        "data.prompt_field and data.gold_field",
        row.place(), names.prompt.empty() ? "a prompt" : "the gold answer", fields_text(row));
  }
  options.prompt_field = names.prompt;
  options.gold_field = unless_default(names.gold, {"gold", "answer", "reward_model.ground_truth"});
  options.choices_field = names.choices;
  if (!names.data_source.empty()) options.data_source_field = names.data_source;
  options.reference_length_field = unless_default(names.reference_length, {"reference_length"});
}

/// Chooses the model's own chat template, or "plain" if it has none or its template fails.
PromptTemplate choose_template(const fs::path& model, Findings& found) {
  found.rows.prompt_template = "plain";
  found.template_note = "the model has no chat template";
  if (!has_chat_template(model)) return prompt_template("plain", model);
  try {
    PromptTemplate own = prompt_template("model", model);
    found.rows.prompt_template = "model";
    found.template_note = "the model's chat template";
    return own;
  } catch (const Error&) {
    found.template_note = fmt::format("the model's chat template cannot be run: is it one of {}?",
                                      fmt::join(template_names(), ", "));
    return prompt_template("plain", model);
  }
}

/// Reads the file in one pass, since it may be large. The first row with a prompt and a gold answer
/// determines the field names. With a chat template, prompts that do not request a box get a suffix
/// that does.
void read_rows(const InitArguments& arguments, Findings& found) {
  const PromptTemplate prompts = choose_template(arguments.model, found);
  const Tokenizer tokenizer = Tokenizer::load(arguments.model);
  const RenderPrompt render = [&](auto messages) { return prompts.prompt(messages); };
  const auto tokens = [&](const Prompt& prompt) {
    return std::ssize(tokenizer.encode(prompt.text));
  };
  const bool is_plain = found.rows.prompt_template == "plain";
  bool is_named = false;
  std::int64_t asking = 0, longest_when_asked = 0;
  const auto make = [&](const JsonRow& row, RowCounts& counts) {
    if (!is_named) name_fields(row, found.rows);
    is_named = true;
    Prompt prompt = prompt_of(row, found.rows, render, counts);
    found.longest_prompt = std::max(found.longest_prompt, tokens(prompt));
    if (is_plain) return prompt;
    if (prompt.text.find("\\boxed") != std::string::npos) ++asking;
    RowOptions asked = found.rows;
    asked.prompt_suffix = kBoxed;
    RowCounts counted_already;
    longest_when_asked =
        std::max(longest_when_asked, tokens(prompt_of(row, asked, render, counted_already)));
    return prompt;
  };
  found.dataset = read_dataset(arguments.data, make, /*skip_bad_rows=*/true);
  if (is_plain || 2 * asking > std::ssize(found.dataset.prompts)) return;
  found.rows.prompt_suffix = kBoxed;
  found.longest_prompt = longest_when_asked;
}

Findings findings(const InitArguments& arguments) {
  Findings found;
  found.model = plan_weights(arguments.model);
  read_rows(arguments, found);
  return found;
}

TrainConfig config_of(const InitArguments& arguments, const Findings& found,
                      const RunSizes& sizes) {
  TrainConfig config;
  config.run.directory = (fs::path("runs") / arguments.data.stem()).string();
  config.run.steps = std::min(kLongestFirstRun, found.steps_of_epoch());
  config.model.path = arguments.model.string();
  static_cast<RowOptions&>(config.data) = found.rows;
  config.data.skip_bad_rows = !found.dataset.skipped.empty();
  config.data.train_file = arguments.data.string();
  config.tickets.prompts_per_step = kPromptsPerStep;
  config.rollout.max_prompt_tokens = sizes.max_prompt_tokens;
  config.rollout.sampling.max_response_tokens = sizes.max_response_tokens;
  config.rollout.cache_mebibytes = sizes.cache_mebibytes;
  config.policy_loss.algorithm = Algorithm::kGspo;
  config.checkpoint.every = 20;
  fit_to_limit(config.reward, sizes.max_response_tokens);
  return config;
}

ConfigComments comments(const Findings& found) {
  const ModelConfig& model = found.model.config;
  ConfigComments comments = {
      {"run.steps", fmt::format("an epoch has {}", found.steps_of_epoch())},
      {"model.path", fmt::format("{}, {:.1f} M parameters", model.architecture,
                                 static_cast<double>(found.model.parameters) / 1e6)},
      {"data.train_file", fmt::format("{} prompts", found.dataset.prompts.size())},
      {"data.evaluation_file", "held-out prompts, and evaluation: {every: 10}"},
      {"data.prompt_template", found.template_note},
      {"rollout.samples_per_prompt", "responses to each prompt: a group"},
      {"rollout.max_prompt_tokens", fmt::format("the longest has {}", found.longest_prompt)},
      {"rollout.max_response_tokens",
       fmt::format("the model reads {} positions", model.max_positions)},
      {"rollout.cache_mebibytes", "KV cache of an actor"}};
  if (!found.rows.prompt_suffix.empty()) {
    comments["data.prompt_suffix"] = "the verifier looks for the answer in a box";
  }
  return comments;
}

std::string head(const Findings& found, const RunSizes& sizes,
                 const std::vector<std::string>& switched_off) {
  std::string text =
      "# Written by lie_cluster init. Every key: lie_cluster train --help. Start it with\n"
      "#   mpirun --oversubscribe -n 4 lie_cluster train THIS_FILE\n";
  text += fmt::format(
      "# Memory: a learner {:.2f} GiB, an actor {:.2f} GiB; this machine has {:.0f} GiB.\n",
      sizes.learner_gibibytes, sizes.actor_gibibytes, sizes.machine_gibibytes);
  if (sizes.learner_gibibytes + sizes.actor_gibibytes > sizes.machine_gibibytes) {
    text += "# This machine has too little: spread the ranks over hosts, or use a smaller model.\n";
  }
  for (const std::string& why : switched_off) text += fmt::format("# Switched off: {}\n", why);
  const std::string skipped = skipped_rows_text(found.dataset);
  return skipped.empty() ? text : text + fmt::format("# {}\n", skipped);
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

}  // namespace

std::string initial_config(const InitArguments& arguments) {
  const Findings found = findings(arguments);
  const RunSizes sizes = run_sizes(found.model, found.longest_prompt);
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
  command->callback(
      [&chosen, arguments] { chosen = [=] { std::cout << initial_config(*arguments); }; });
}

}  // namespace lie
