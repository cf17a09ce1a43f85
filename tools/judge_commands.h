// Argument parsing of lie_analyze's commands about what responses do.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lie {

/// What the command line asks for; returns the exit status.
using Chosen = std::function<int()>;

/// Adds judge and behaviours to `program`; `chosen` is set when one of them is given.
void add_judge_commands(CLI::App& program, Chosen& chosen);

}  // namespace lie
