// The commands that run as a job: on every rank of mpirun or srun, or in one process.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "common/comm/job.h"

namespace lie {

/// Adds train, sft, eval, reference-lengths and data; parsing one of them sets `chosen` to what
/// each rank runs.
void add_job_commands(CLI::App& program, std::function<void(Job&)>& chosen);

}  // namespace lie
