// What the mains of the programs with commands under MPI have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "common/comm/job.h"

namespace lie {

/// Throws Error for a misspelt first word, where the parser would only say that a command is
/// required.
void require_command(const CLI::App& program, int argc, char** argv);

/// Runs a command in a job of its own, MPI from first to last. Returns the exit status.
int run_job(const std::function<void(Job&)>& command);

}  // namespace lie
