// Argument parsing of lie_cluster's commands.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "common/comm/job.h"

namespace lie {

/// Adds train, sft, eval, reference-lengths and data. They run as a job: on every rank of mpirun or
/// srun, or in one process. Parsing one of them sets `chosen` to the function that each rank runs.
void add_job_commands(CLI::App& program, std::function<void(Job&)>& chosen);

/// Adds init, tokenize, score, generate and plan, which run in one process without a job. Parsing
/// one of them sets `chosen` to the function that runs it.
void add_model_commands(CLI::App& program, std::function<void()>& chosen);

}  // namespace lie
