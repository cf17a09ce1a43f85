// The command lie_cluster sft: supervised fine-tuning with every rank as a learner.
#pragma once

#include "tools/arguments/job_program.h"

namespace lie {

/// Adds the command to the program; parsing it sets `chosen` to what runs it.
void add_sft(CLI::App& program, JobCommand& chosen);

}  // namespace lie
