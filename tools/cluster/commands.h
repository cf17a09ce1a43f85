// The commands of lie_cluster that this folder declares. Each add_ function adds one command to the
// program; parsing that command sets `chosen` to what runs it.
#pragma once

#include <string>

#include "tools/arguments/job_program.h"

namespace lie {

// These run as a job: on every rank of mpirun or srun, or in one process.
void add_train(CLI::App& program, JobCommand& chosen);
void add_reference_lengths(CLI::App& program, JobCommand& chosen);

// These run in one process.
void add_data(CLI::App& program, ProcessCommand& chosen);
void add_init(CLI::App& program, ProcessCommand& chosen);
void add_tokenize(CLI::App& program, ProcessCommand& chosen);
void add_score(CLI::App& program, ProcessCommand& chosen);
void add_generate(CLI::App& program, ProcessCommand& chosen);
void add_merge(CLI::App& program, ProcessCommand& chosen);
void add_plan(CLI::App& program, ProcessCommand& chosen);
void add_probe(CLI::App& program, ProcessCommand& chosen);

/// Prints a warning of a command that has no log, unless the text is empty.
void print_warning(const std::string& text);

/// Runs the command that the command line names, of these and of the other folders. Errors of the
/// command line are reported once for the job, before MPI is initialized. Returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace lie
