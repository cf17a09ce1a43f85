// lie_cluster eval: measures a model's accuracy on problem sets as the paper does.
//
// The directory holds
//   config.yaml      resolved
//   responses.log    every response (common/comm/message_file.h); none is generated twice
//   table.txt, table.json            the table (tools/eval/eval_table.h)
//   samples.jsonl    one line per response: text, answer, verdict
//   trajectories/, metrics.jsonl      the same as a run's evaluation at step 0, for lie_analyze
#pragma once

#include "tools/arguments/job_program.h"

namespace lie {

/// Adds the command to `program`. Parsing it sets `chosen` to what each rank runs.
void add_eval(CLI::App& program, JobCommand& chosen);

}  // namespace lie
