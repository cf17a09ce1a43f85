// Commands that became Python commands: the old name answers with the new one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "common/base/error.h"
#include "tools/arguments/docs_page.h"

namespace lie {

/// Adds a hidden subcommand that takes any arguments and throws CommandLineError with the command
/// `python -m MODULE`. `page` is the page of docs/ that describes it.
inline void add_moved_command(CLI::App& program, const std::string& name, const std::string& module,
                              const std::string& page) {
  CLI::App* command = program.add_subcommand(name)->group("");
  command->prefix_command()->set_help_flag();
  command->callback([=, &program] {
    throw CommandLineError(
        fmt::format("{} {} is now a Python command: python3 -m {} (pip install ./python; {})",
                    program.get_name(), name, module, docs_page(page)));
  });
}

}  // namespace lie
