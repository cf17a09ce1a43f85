#include "tools/arguments/config_command.h"

#include <fmt/format.h>

#include <memory>

#include "common/config/config.h"
#include "tools/arguments/number_arguments.h"

namespace lie {

void add_config(CLI::App& command, ConfigArguments& arguments) {
  command.add_option("CONFIG", arguments.config, "YAML file")->required();
  add_overrides(command, arguments.overrides,
                "Set one key of the config: --set model.path=DIRECTORY");
}

void add_config_command(CLI::App& program, JobCommand& chosen, const char* name, const char* help,
                        const std::function<std::string(std::string_view)>& explain,
                        const std::function<void(Job&, const ConfigArguments&)>& run) {
  const auto arguments = std::make_shared<ConfigArguments>();
  CLI::App* command = program.add_subcommand(name, help);
  add_config(*command, *arguments);
  command->add_flag(
      "--dry-run", arguments->dry_run,
      "Make all checks of a start and log what it would do; print the resolved config "
      "to standard output; start and write nothing");
  command->footer([=] {
    const std::string keys = explain(arguments->config);
    if (is_part_of_key(arguments->config)) return keys;
    return "\n--help KEY explains the keys whose names contain KEY. Keys of the config:\n" + keys;
  });
  command->callback(
      [&chosen, arguments, run] { chosen = [=](Job& job) { run(job, *arguments); }; });
}

}  // namespace lie
