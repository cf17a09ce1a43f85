// lie_cluster forecast: measures before a run whether longer responses are more accurate.
#pragma once

#include "tools/arguments/job_program.h"

namespace lie {

/// Adds the command to `program`. Parsing it sets `chosen` to what each rank runs.
void add_forecast(CLI::App& program, JobCommand& chosen);

}  // namespace lie
