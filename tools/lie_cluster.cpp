// The main program: one binary for every rank of a job.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/build_id.h"
#include "common/comm/environment.h"
#include "common/comm/job.h"
#include "common/error.h"
#include "common/nearest.h"
#include "tools/data/data_command.h"
#include "tools/eval/eval.h"
#include "tools/eval/eval_config.h"
#include "tools/model_commands.h"
#include "tools/reference_lengths/reference_lengths.h"
#include "tools/sft/sft_command.h"
#include "tools/train/train.h"
#include "tools/train/train_config.h"

namespace {

using Command = std::function<void(lie::Job&)>;

/// CONFIG and --set, as every command has them.
struct ConfigArguments {
  std::string config;
  std::vector<std::string> overrides;

  void add_to(CLI::App& command) {
    command.add_option("CONFIG", config, "YAML file")->required();
    command
        .add_option("--set", overrides,
                    "Set one key of the config: --set optimizer.learning_rate=1e-6")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
  }
};

void add_train(CLI::App& program, ConfigArguments& arguments, Command& chosen) {
  CLI::App* train = program.add_subcommand(
      "train", "Train by reinforcement learning; run it under mpirun or srun");
  arguments.add_to(*train);
  train->footer([] { return "\nKeys of the config:\n" + lie::explain_train_config(); });
  train->callback([&] {
    chosen = [&](lie::Job& job) { lie::train(job, {arguments.config, arguments.overrides}); };
  });
}

void add_sft(CLI::App& program, ConfigArguments& arguments, Command& chosen) {
  CLI::App* sft = program.add_subcommand("sft", "Supervised fine-tuning on prompts and responses");
  arguments.add_to(*sft);
  sft->footer([] { return "\nKeys of the config:\n" + lie::explain_sft_config(); });
  sft->callback([&] {
    chosen = [&](lie::Job& job) { lie::sft(job, arguments.config, arguments.overrides); };
  });
}

void add_eval(CLI::App& program, ConfigArguments& arguments, Command& chosen) {
  CLI::App* eval = program.add_subcommand(
      "eval",
      "Measure a model on benchmarks: Avg@k, pass@k, maj@k, token budgets; also under mpirun");
  arguments.add_to(*eval);
  eval->footer([] { return "\nKeys of the config:\n" + lie::evaluation::explain_eval_config(); });
  eval->callback([&] {
    chosen = [&](lie::Job& job) { lie::evaluate(job, arguments.config, arguments.overrides); };
  });
}

void add_reference_lengths(CLI::App& program, lie::ReferenceLengthsArguments& arguments,
                           ConfigArguments& config, Command& chosen) {
  CLI::App* measure = program.add_subcommand(
      "reference-lengths",
      "Measure the initial policy's response length for every training prompt; also under mpirun");
  config.add_to(*measure);
  measure
      ->add_option(
          "--output", arguments.output,
          "File to write: the rows with reference_length; .parquet for Parquet, else JSONL")
      ->required();
  measure->add_option("--samples", arguments.samples, "Responses sampled for each prompt")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  measure->callback([&] {
    chosen = [&](lie::Job& job) {
      arguments.config = config.config;
      arguments.overrides = config.overrides;
      lie::reference_lengths(job, arguments);
    };
  });
}

void add_data(CLI::App& program, lie::DataArguments& arguments, Command& chosen) {
  CLI::App* data =
      program.add_subcommand("data", "Read a data file as training would, and say what is in it");
  data->add_option("FILE", arguments.file, "JSONL or Parquet")->required();
  data->add_option("--model", arguments.model,
                   "Directory with tokenizer.json: prompt lengths in tokens");
  data->add_option("--max-prompt-tokens", arguments.max_prompt_tokens,
                   "Count the prompts that are longer, with --model")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  data->add_flag("--show", arguments.show_first, "Print the first prompt as the model reads it");
  data->add_option("--set", arguments.overrides,
                   "How rows are read: --set prompt_template=qwen3 --set gold_field=solution")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  data->footer([] { return "\nKeys for --set:\n" + lie::explain_row_options(); });
  data->callback([&] {
    chosen = [&](lie::Job& job) {
      if (job.rank() == 0) std::fputs(lie::describe_data(arguments).c_str(), stdout);
    };
  });
}

/// Throws Error for a misspelt command, of which the parser would only say that one is wanted.
void check_command(CLI::App& program, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return;
  lie::fail("no command \"{}\"; did you mean {}? lie_cluster --help lists them", word,
            lie::nearest_name(word, names));
}

/// Whether this process speaks for the job about its command line, before MPI has begun.
bool speaks_for_the_job() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

int run(const Command& command) {
  lie::mpi::Environment environment;
  lie::Job job(environment);
  return job.run([&] { command(job); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("LIE Cluster: reinforcement learning for reasoning models under MPI.");
  program.set_version_flag("--version", std::string(lie::build_id()));
  program.require_subcommand(1);
  ConfigArguments train_arguments, sft_arguments, eval_arguments, length_config;
  lie::ReferenceLengthsArguments length_arguments;
  lie::DataArguments data_arguments;
  Command chosen;
  add_train(program, train_arguments, chosen);
  add_sft(program, sft_arguments, chosen);
  add_eval(program, eval_arguments, chosen);
  add_reference_lengths(program, length_arguments, length_config, chosen);
  add_data(program, data_arguments, chosen);
  std::function<void()> without_job;
  lie::add_model_commands(program, without_job);
  try {
    if (argc > 1) check_command(program, argv[1]);
    program.parse(argc, argv);
    if (!without_job) return run(chosen);
    without_job();
    return 0;
  } catch (const CLI::ParseError& error) {
    return speaks_for_the_job() ? program.exit(error) : error.get_exit_code();
  } catch (const std::exception& error) {  // before there was a job to end
    if (speaks_for_the_job()) std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
