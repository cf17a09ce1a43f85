#include "tools/cluster/generate.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/generator.h"
#include "common/base/error.h"
#include "common/comm/host_cpus.h"
#include "common/process/program.h"
#include "common/text/counted.h"
#include "tools/cluster/commands.h"
#include "tools/cluster/described_policy.h"
#include "tools/cluster/row_arguments.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/devices.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/input/token_rows.h"

namespace lie {
namespace {

constexpr std::int64_t kUsualTokens = 256;  // default limit of a response

RolloutOptions options_of(const GenerateArguments& arguments, const std::vector<TokenRow>& rows,
                          const ModelConfig& config) {
  RolloutOptions options;
  options.end_of_sequence_ids =
      end_tokens(arguments.model.path, row_options(arguments.overrides).prompt_template).ids;
  options.slots = arguments.slots;
  options.cache_mebibytes = arguments.cache_mebibytes;
  options.max_prompt_tokens = 0;
  for (const TokenRow& row : rows) {
    options.max_prompt_tokens = std::max(options.max_prompt_tokens, std::ssize(row.prompt_ids));
  }
  options.sampling = arguments.sampling;
  std::int64_t& most = options.sampling.max_response_tokens;
  const std::int64_t left = config.max_positions - options.max_prompt_tokens;
  if (most == 0) most = std::max<std::int64_t>(std::min(kUsualTokens, left), 1);
  options.evaluation = options.sampling;
  if (arguments.ignore_end) options.end_of_sequence_ids = {-1};
  return options;
}

void check_lengths(const std::vector<TokenRow>& rows, std::int64_t max_tokens,
                   const ModelConfig& config) {
  for (const TokenRow& row : rows) {
    if (std::ssize(row.prompt_ids) + max_tokens <= config.max_positions) continue;
    fail(
        "{}: {} tokens of prompt and --max-response-tokens {} are more than the model's {} "
        "positions (max_position_embeddings)",
        row.place, row.prompt_ids.size(), max_tokens, config.max_positions);
  }
}

/// Writes groups in the order of their rows, regardless of the order in which they arrive.
class Writer {
 public:
  Writer(std::vector<TokenRow>& rows, const Tokenizer& tokenizer, std::ostream& out)
      : rows_(rows), tokenizer_(tokenizer), out_(out) {}

  void take(RolloutGroup group) {
    waiting_.emplace(group.ticket.group, std::move(group));
    while (!waiting_.empty() && waiting_.begin()->first == next_) {
      write(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++next_;
    }
    flush_output(out_);
  }

 private:
  void write(const RolloutGroup& group) {
    for (std::size_t i = 0; i < group.responses.size(); ++i) {
      const Response& response = group.responses[i];
      nlohmann::ordered_json row = rows_[static_cast<std::size_t>(next_)].fields;
      if (group.responses.size() > 1) row["sample"] = i;
      row["response"] = tokenizer_.decode(response.ids);
      row["response_ids"] = response.ids;
      row["log_probs"] = short_numbers(response.behavior_log_probs);
      row["finish"] = response.finish == FinishReason::kLength ? "length" : "end_of_sequence";
      out_ << one_line(row) << '\n';
    }
  }

  std::vector<TokenRow>& rows_;
  const Tokenizer& tokenizer_;
  std::ostream& out_;
  std::map<std::int64_t, RolloutGroup> waiting_;  // by row
  std::int64_t next_ = 0;
};

void add_tickets(Generator& generator, std::size_t rows, std::int64_t samples) {
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::int64_t>(i);
    generator.add({.group = row,
                   .samples = static_cast<std::int32_t>(samples),
                   .prompt = {.problem = row, .text = {}, .gold = {}, .data_source = {}}});
  }
}

void report(const Generator& generator, std::size_t rows, std::chrono::duration<double> seconds) {
  std::cerr << fmt::format("{}, {} generated in {:.1f} s, {:.1f} tokens/s\n",
                           counted(static_cast<std::int64_t>(rows), "prompt"),
                           counted(generator.tokens_generated(), "token"), seconds.count(),
                           static_cast<double>(generator.tokens_generated()) / seconds.count());
}

void add_sampling(CLI::App& command, SamplingOptions& sampling) {
  command
      .add_option("--max-response-tokens,--max-tokens", sampling.max_response_tokens,
                  "Limit of a response; default: 256, or what the longest prompt leaves of the "
                  "model's positions")
      ->check(integers(1));
  add_number(command, "--temperature", sampling.temperature,
             "Logits are divided by this; 0 takes the likeliest token", 0);
  add_number(command, "--top-p", sampling.top_p,
             "Draw from the likeliest tokens that hold this share of the probability", 1e-6, 1);
  add_integer(command, "--top-k", sampling.top_k,
              "Draw from this many likeliest tokens; 0: from all", 0);
}

}  // namespace

void generate(const GenerateArguments& arguments, std::ostream& out) {
  const ModelConfig config = load_model_config(arguments.model.path);
  TokenRowReader reader(arguments.model.path, config, rows_of(arguments));
  std::vector<TokenRow> rows = reader.read(arguments.input, false);
  for (const std::string& remark : reader.remarks()) print_warning(remark);
  const std::string warning = template_warning(reader.template_name(), arguments.model.path);
  if (reader.has_rendered() && !warning.empty()) print_warning(warning);
  const std::string sampling = generation_warning(arguments.model.path);
  if (!sampling.empty()) print_warning(sampling);
  Writer writer(rows, reader.tokenizer(), out);
  const RolloutOptions options = options_of(arguments, rows, config);
  check_lengths(rows, options.sampling.max_response_tokens, config);
  const auto operators = make_operators(arguments.model, static_cast<int>(usable_cpus().size()));
  Transformer policy = described_policy(arguments.model, *operators);
  log_choices(Log("generate", 0), *operators, PassKind::kGeneration, config);
  const auto prompt_ids = [&](const Prompt& prompt) {
    return rows[static_cast<std::size_t>(prompt.problem)].prompt_ids;
  };
  Generator generator(policy, *operators, config, options,
                      static_cast<std::uint64_t>(arguments.seed), prompt_ids);
  add_tickets(generator, rows.size(), arguments.samples);
  const auto start = std::chrono::steady_clock::now();
  while (!generator.idle()) {
    for (RolloutGroup& group : generator.step()) writer.take(std::move(group));
  }
  report(generator, rows.size(), std::chrono::steady_clock::now() - start);
  const std::string refusal = policy.cuda_graph_usage().refusal;
  if (!refusal.empty()) std::cerr << "without CUDA graphs, which is slower: " << refusal << '\n';
}

void add_generate(CLI::App& program, ProcessCommand& chosen) {
  const auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* command =
      program.add_subcommand("generate", "Responses to the prompts of a file, as JSON lines");
  add_model_and_rows(*command, *arguments, "prompt_ids, or a prompt: a text or chat messages");
  add_sampling(*command, arguments->sampling);
  add_integer(*command, "--samples", arguments->samples, "Responses to each prompt", 1, 1 << 20);
  add_integer(*command, "--seed", arguments->seed, "Seed of every sampled token", 0);
  command->add_flag("--ignore-end", arguments->ignore_end,
                    "Continue after an end-of-sequence token, up to --max-response-tokens");
  add_integer(*command, "--slots", arguments->slots,
              "Responses in flight at once. Results do not depend on it", 1, 65536);
  add_integer(*command, "--cache-mebibytes", arguments->cache_mebibytes,
              "KV cache at most; 0: by the device", 0);
  command->footer(
      "\nWrites each row, once for each response, with response, response_ids, log_probs, finish "
      "(end_of_sequence or\nlength) and, with --samples, sample.");
  command->callback([&chosen, arguments] { chosen = [=] { generate(*arguments, std::cout); }; });
}

}  // namespace lie
