// Argument parsing of lie_analyze study.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lie {

/// What the command line asks for; returns the exit status.
using Chosen = std::function<int()>;

/// Adds study to `program`; `chosen` is set when it is given.
void add_study_command(CLI::App& program, Chosen& chosen);

}  // namespace lie
