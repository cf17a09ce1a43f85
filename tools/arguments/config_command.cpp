#include "tools/arguments/config_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "common/config/config.h"
#include "tools/arguments/values.h"

namespace lie {
namespace {

/// The keys that most runs set, of all commands: --help explains these.
constexpr std::array<std::string_view, 16> kBasicKeys = {"run.directory",
                                                         "run.steps",
                                                         "model.path",
                                                         "data.train_file",
                                                         "data.evaluation_file",
                                                         "data.prompt_template",
                                                         "rollout.prompts_per_step",
                                                         "rollout.samples_per_prompt",
                                                         "rollout.max_prompt_tokens",
                                                         "rollout.max_response_tokens",
                                                         "evaluation.every",
                                                         "reward.length.delta_tokens",
                                                         "reward.length.eta",
                                                         "policy_loss.algorithm",
                                                         "optimizer.learning_rate",
                                                         "sft.batch_sequences"};

}  // namespace

void add_config(CLI::App& command, ConfigArguments& arguments, const ExplainKeys& explain) {
  command.add_option("CONFIG", arguments.config, "YAML file")->required();
  add_overrides(command, arguments.overrides,
                "Set one key of the config: --set model.path=DIRECTORY");
  command.footer([&arguments, explain] { return explain(arguments.config, kBasicKeys); });
}

void add_config_command(CLI::App& program, JobCommand& chosen, const char* name, const char* help,
                        const ExplainKeys& explain,
                        const std::function<void(Job&, const ConfigArguments&)>& run) {
  const auto arguments = std::make_shared<ConfigArguments>();
  CLI::App* command = program.add_subcommand(name, help);
  add_config(*command, *arguments, explain);
  command->add_flag(
      "--dry-run", arguments->dry_run,
      "Make all checks of a start and log what it would do; print the resolved config "
      "to standard output; start and write nothing");
  command->callback([&chosen, arguments, run] {
    chosen = [=](Job& job) {
      job.begin_start();
      run(job, *arguments);
    };
  });
}

}  // namespace lie
