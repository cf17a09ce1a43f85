#include "tools/cluster/cluster_commands.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "common/config/config.h"
#include "common/dataset/dataset.h"
#include "tools/arguments/number_arguments.h"
#include "tools/cluster/data.h"
#include "tools/cluster/reference_lengths.h"
#include "tools/cluster/sft.h"
#include "tools/cluster/train.h"
#include "tools/eval/eval_command.h"
#include "tools/eval/eval_config.h"
#include "tools/run/config/train_config.h"

namespace lie {
namespace {

using Chosen = std::function<void(Job&)>;

/// Arguments of every command that reads a config.
struct ConfigArguments {
  std::string config;
  std::vector<std::string> overrides;
  bool dry_run = false;
};

void add_config(CLI::App& command, ConfigArguments& arguments) {
  command.add_option("CONFIG", arguments.config, "YAML file")->required();
  add_overrides(command, arguments.overrides,
                "Set one key of the config: --set model.path=DIRECTORY");
}

/// Adds a command whose arguments are a config and --dry-run. `explain` lists its keys.
void add_config_command(CLI::App& program, Chosen& chosen, const char* name, const char* help,
                        const std::function<std::string(std::string_view)>& explain,
                        const std::function<void(Job&, const ConfigArguments&)>& run) {
  const auto arguments = std::make_shared<ConfigArguments>();
  CLI::App* command = program.add_subcommand(name, help);
  add_config(*command, *arguments);
  command->add_flag("--dry-run", arguments->dry_run,
                    "Make all checks of a start and say what it would do, with the resolved config "
                    "on standard output; start and write nothing");
  command->footer([=] {
    return fmt::format(
        "\n--help KEY explains the keys that KEY is a part of. Keys of the config:\n{}",
        explain(arguments->config));
  });
  command->callback(
      [&chosen, arguments, run] { chosen = [=](Job& job) { run(job, *arguments); }; });
}

void add_reference_lengths(CLI::App& program, Chosen& chosen) {
  const auto arguments = std::make_shared<ReferenceLengthsArguments>();
  const auto config = std::make_shared<ConfigArguments>();
  CLI::App* measure = program.add_subcommand(
      "reference-lengths",
      "Measure the initial policy's response length for every training prompt; also under mpirun");
  add_config(*measure, *config);
  measure
      ->add_option(
          "--output", arguments->output,
          "File to write: the rows with reference_length; of Parquet also .parquet, else JSONL")
      ->required();
  add_integer(*measure, "--samples", arguments->samples, "Responses sampled for each prompt", 1);
  measure->callback([&chosen, arguments, config] {
    arguments->config = config->config;
    arguments->overrides = config->overrides;
    chosen = [=](Job& job) { reference_lengths(job, *arguments); };
  });
}

void add_data(CLI::App& program, Chosen& chosen) {
  const auto arguments = std::make_shared<DataArguments>();
  CLI::App* data =
      program.add_subcommand("data", "Read a data file as training would, and say what is in it");
  data->add_option("FILE", arguments->file, "JSONL or Parquet")->required();
  data->add_option("--model", arguments->model,
                   "Directory with tokenizer.json: prompt lengths in tokens");
  add_integer(*data, "--max-prompt-tokens", arguments->max_prompt_tokens,
              "Count the prompts that are longer, with --model", 1);
  data->add_flag("--show", arguments->show_first, "Print the first prompt as the model reads it");
  add_overrides(*data, arguments->overrides,
                "How rows are read: --set prompt_template=qwen3 --set gold_field=solution");
  data->footer([] { return "\nKeys for --set:\n" + explain_config_of<RowOptions>(); });
  data->callback([&chosen, arguments] {
    chosen = [=](Job& job) {
      if (job.rank() == 0) std::fputs(describe_data(*arguments).c_str(), stdout);
    };
  });
}

}  // namespace

void add_job_commands(CLI::App& program, Chosen& chosen) {
  add_config_command(
      program, chosen, "train", "Train by reinforcement learning; run it under mpirun or srun",
      explain_config_of<TrainConfig>, [](Job& job, const ConfigArguments& arguments) {
        train(job, {arguments.config, arguments.overrides, arguments.dry_run});
      });
  add_config_command(
      program, chosen, "sft",
      "Supervised fine-tuning on prompts and responses, or on conversations; also under mpirun",
      explain_sft_config, [](Job& job, const ConfigArguments& arguments) {
        sft(job, arguments.config, arguments.overrides, arguments.dry_run);
      });
  add_config_command(
      program, chosen, "eval",
      "Measure a model on benchmarks: Avg@k, pass@k, maj@k, token budgets; also under mpirun",
      explain_config_of<evaluation::EvalConfig>, [](Job& job, const ConfigArguments& arguments) {
        evaluate(job, arguments.config, arguments.overrides, arguments.dry_run);
      });
  add_reference_lengths(program, chosen);
  add_data(program, chosen);
}

}  // namespace lie
