// The commands whose arguments are a config: train, sft and eval.
#pragma once

#include <functional>
#include <span>
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

/// Returns explain_config() of a command's config.
using ExplainKeys =
    std::function<std::string(std::string_view part, std::span<const std::string_view> basics)>;

/// Adds CONFIG, --set and the help of the config's keys. `arguments` must outlive the command.
void add_config(CLI::App& command, ConfigArguments& arguments, const ExplainKeys& explain);

/// Adds a command whose arguments are a config and --dry-run. Parsing it sets `chosen` to `run`.
void add_config_command(CLI::App& program, JobCommand& chosen, const char* name, const char* help,
                        const ExplainKeys& explain,
                        const std::function<void(Job&, const ConfigArguments&)>& run);

}  // namespace lie
