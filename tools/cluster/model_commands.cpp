#include "tools/cluster/cluster_commands.h"

#include <iostream>
#include <memory>
#include <string>

#include "tools/arguments/number_arguments.h"
#include "tools/cluster/generate.h"
#include "tools/cluster/init.h"
#include "tools/cluster/score.h"
#include "tools/cluster/tokenize.h"
#include "tools/plan/plan_command.h"

namespace lie {
namespace {

using Chosen = std::function<void()>;

void add_special_tokens(CLI::App& command, bool& value, const std::string& what) {
  command.add_flag("--add-special-tokens", value,
                   "Put around each " + what +
                       " what the tokenizer's post-processor does, such as Llama 3's "
                       "<|begin_of_text|>; without it as transformers' add_special_tokens=False");
}

/// Adds the options that score and generate share: the model, the rows, and how texts become ids.
void add_model_and_rows(CLI::App& command, auto& arguments, const std::string& fields) {
  command
      .add_option("MODEL_DIR", arguments.model.path,
                  "Hugging Face directory: config.json, model*.safetensors, tokenizer.json")
      ->required();
  command
      .add_option("FILE", arguments.input,
                  "JSONL; a row has " + fields + "; other fields come back; -: standard input")
      ->required();
  command
      .add_option("--device", arguments.model.device,
                  "cpu, cpu-bf16, aten-cpu, cuda or cuda-exact, the last two also with :<number>")
      ->capture_default_str();
  add_integer(command, "--threads", arguments.model.threads,
              "Threads on the CPU; 0: all cores. Results do not depend on it", 0, 1024);
  add_special_tokens(command, arguments.add_special_tokens, "prompt's text");
}

void add_init(CLI::App& program, Chosen& chosen) {
  const auto arguments = std::make_shared<InitArguments>();
  CLI::App* command = program.add_subcommand(
      "init", "A first config for a model and a data file: lie_cluster init MODEL DATA > my.yaml");
  command->add_option("MODEL_DIR", arguments->model, "Hugging Face directory")->required();
  command->add_option("FILE", arguments->data, "JSONL or Parquet, a prompt a row")->required();
  command->callback(
      [&chosen, arguments] { chosen = [=] { std::cout << initial_config(*arguments); }; });
}

void add_tokenize(CLI::App& program, Chosen& chosen) {
  const auto arguments = std::make_shared<TokenizeArguments>();
  CLI::App* command = program.add_subcommand(
      "tokenize", "Token ids of each line of text as a JSON list, or the text of such lists");
  command->add_option("MODEL_DIR", arguments->model, "Directory with tokenizer.json")->required();
  command->add_option("FILE", arguments->input, "Text, a line each; none or -: standard input");
  command->add_flag("--json", arguments->json,
                    "Each line is a JSON string, so that a text may hold line ends");
  add_special_tokens(*command, arguments->add_special_tokens, "text");
  command
      ->add_flag("--decode", arguments->decode,
                 "The other way: each line is a JSON list of ids, its text comes out as a JSON "
                 "string")
      ->excludes("--json")
      ->excludes("--add-special-tokens");
  command
      ->add_flag("--skip-special-tokens", arguments->skip_special_tokens,
                 "Leave special tokens out of the text")
      ->needs("--decode");
  command->callback([&chosen, arguments] { chosen = [=] { tokenize(*arguments, std::cout); }; });
}

void add_score(CLI::App& program, Chosen& chosen) {
  const auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command =
      program.add_subcommand("score", "Log-prob of every response token, as JSON lines");
  add_model_and_rows(*command, *arguments,
                     "prompt_ids and response_ids, or texts prompt and response");
  add_number(*command, "--temperature", arguments->temperature,
             "Logits are divided by this before the softmax", 1e-6);
  command->add_flag("--entropies", arguments->entropies,
                    "Write the entropy of each distribution, too (nats)");
  add_integer(*command, "--batch-tokens", arguments->batch_tokens,
              "Tokens of one forward pass, at least one row. Results do not depend on it", 1);
  command->footer(
      "\nWrites each row with log_probs (nats, one for each response token); texts are encoded "
      "each by itself,\nand their ids are written, too.");
  command->callback([&chosen, arguments] { chosen = [=] { score(*arguments, std::cout); }; });
}

void add_sampling(CLI::App& command, SamplingOptions& sampling) {
  command
      .add_option("--max-tokens", sampling.max_response_tokens,
                  "A response is cut at this length; without: at 256, or where the longest prompt "
                  "leaves no more of the model's positions")
      ->check(integers(1));
  add_number(command, "--temperature", sampling.temperature,
             "Logits are divided by this; 0 takes the likeliest token", 0);
  add_number(command, "--top-p", sampling.top_p,
             "Draw from the likeliest tokens that hold this share of the probability", 1e-6, 1);
  add_integer(command, "--top-k", sampling.top_k,
              "Draw from this many likeliest tokens; 0: from all", 0);
}

void add_generate(CLI::App& program, Chosen& chosen) {
  const auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* command =
      program.add_subcommand("generate", "Responses to the prompts of a file, as JSON lines");
  add_model_and_rows(*command, *arguments, "prompt_ids, or a text prompt, used without a template");
  add_sampling(*command, arguments->sampling);
  add_integer(*command, "--samples", arguments->samples, "Responses to each prompt", 1, 1 << 20);
  add_integer(*command, "--seed", arguments->seed, "Seed of every sampled token", 0);
  command->add_flag("--ignore-end", arguments->ignore_end,
                    "Go on after an end-of-sequence token, to --max-tokens");
  add_integer(*command, "--slots", arguments->slots,
              "Responses in flight at once. Results do not depend on it", 1, 65536);
  add_integer(*command, "--cache-mebibytes", arguments->cache_mebibytes, "KV cache at most", 1);
  command->footer(
      "\nWrites each row, once for each response, with response, response_ids, log_probs, finish "
      "(end_of_sequence or\nlength) and, with --samples, sample.");
  command->callback([&chosen, arguments] { chosen = [=] { generate(*arguments, std::cout); }; });
}

void add_lengths_and_costs(CLI::App& command, PlanArguments& arguments) {
  const auto lengths = command.add_option(
      "--lengths", arguments.lengths,
      "Run directory whose responses' lengths these are; without: run.directory, if it holds any");
  command
      .add_option("--median-tokens", arguments.median_tokens,
                  "Instead: lengths are log-normal with this median, cut at the longest response")
      ->check(numbers(1))
      ->excludes(lengths);
  add_number(command, "--sigma", arguments.sigma, "Standard deviation of the lengths' logarithms",
             0, 10);
  command.add_option("--costs", arguments.costs,
                     "What --json printed where the run is to be; without: measured here");
  command
      .add_option("--bytes-per-second", arguments.bytes_per_second,
                  "Between ranks; without: that of --costs, or 1.25e9, assumed")
      ->check(numbers(1));
}

void add_plan(CLI::App& program, Chosen& chosen) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = program.add_subcommand(
      "plan", "Memory of each role, expected step time and idle shares of a training run");
  command->add_option("CONFIG", arguments->config, "YAML file, as for train")->required();
  add_overrides(*command, arguments->overrides,
                "Set one key of the config: --set rollout.max_staleness=1");
  command->add_option("--ranks", arguments->ranks, "How many; several: 8,64,512")
      ->delimiter(',')
      ->check(integers(1, 1 << 20))
      ->capture_default_str();
  add_integer(*command, "--ranks-per-host", arguments->ranks_per_host,
              "How many share a host; 0: all", 0);
  command
      ->add_option("--cores", arguments->cores,
                   "Of a host, shared by its ranks; 0: no two ranks share any. Without: as many as "
                   "here, or 0 with model.device cuda")
      ->check(integers(0, 4096));
  add_lengths_and_costs(*command, *arguments);
  command->add_flag("--json", arguments->json, "JSON, with the costs, for --costs");
  command->footer(
      "\nStarts and writes nothing. Memory is exact; step time is a formula over measured costs\n"
      "(tools/plan/step_time.h). docs/benchmarks/plan-error.md says how far off it is.");
  command->callback([&chosen, arguments] { chosen = [=] { plan(*arguments, std::cout); }; });
}

}  // namespace

void add_model_commands(CLI::App& program, Chosen& chosen) {
  add_init(program, chosen);
  add_tokenize(program, chosen);
  add_score(program, chosen);
  add_generate(program, chosen);
  add_plan(program, chosen);
}

}  // namespace lie
