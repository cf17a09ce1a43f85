// Shared by the main functions of programs whose commands run under MPI.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "common/comm/job.h"

namespace lie {

/// Throws Error for a misspelled command. CLI11 would only say that a subcommand is required.
void require_command(const CLI::App& program, int argc, char** argv);

/// Runs a command in a job of its own, from MPI initialization to its end. Returns the exit status.
int run_job(const std::function<void(Job&)>& command);

}  // namespace lie
