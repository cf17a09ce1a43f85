// The commands whose arguments are a config: train, sft and eval.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/arguments/job_program.h"

namespace lie {

/// Arguments of every command that reads a config.
struct ConfigArguments {
  std::string config;
  std::vector<std::string> overrides;  // key=value
  bool dry_run = false;                // only check, and print what a start would do
};

/// Adds CONFIG and --set.
void add_config(CLI::App& command, ConfigArguments& arguments);

/// Adds a command whose arguments are a config and --dry-run. Parsing it sets `chosen` to `run`.
/// `explain` returns the help of the keys that contain its argument.
void add_config_command(CLI::App& program, JobCommand& chosen, const char* name, const char* help,
                        const std::function<std::string(std::string_view)>& explain,
                        const std::function<void(Job&, const ConfigArguments&)>& run);

}  // namespace lie
