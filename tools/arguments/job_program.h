// Shared by the main functions of programs whose commands run under MPI.
#pragma once

#include <functional>

#include "common/comm/job.h"

namespace CLI {
class App;  // CLI11 takes seconds to compile: only sources that declare arguments include it
}

namespace lie {

/// A command that runs on every rank of a job.
using JobCommand = std::function<void(Job&)>;
/// A command that runs in one process, without a job.
using ProcessCommand = std::function<void()>;

/// Throws CommandLineError for a misspelled command. CLI11 would only say that a subcommand is
/// required.
void require_command(const CLI::App& program, int argc, char** argv);

/// Runs a command in a job of its own, from MPI initialization to its end. Returns the exit status.
int run_job(const JobCommand& command);

}  // namespace lie
