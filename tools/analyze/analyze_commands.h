// Argument parsing of lie_analyze's commands.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lie {

/// What the command line asks for; returns the exit status.
using Chosen = std::function<int()>;

/// Adds judge and behaviours, about what responses do, to `program`; `chosen` is set when one of
/// them is given.
void add_judge_commands(CLI::App& program, Chosen& chosen);

/// The same for study, about the rows of a study.
void add_study_command(CLI::App& program, Chosen& chosen);

}  // namespace lie
