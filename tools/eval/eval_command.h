// lie_cluster eval: measures a model's accuracy on problem sets as the paper does.
//
// The directory holds
//   config.yaml      resolved
//   responses.log    every response (common/comm/message_file.h); none is generated twice
//   table.txt, table.json            the table (tools/eval/eval_table.h)
//   samples.jsonl    one line per response: text, answer, verdict
//   trajectories/, metrics.jsonl      the same as a run's evaluation at step 0, for lie_analyze
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "common/comm/job.h"

namespace lie {

/// Generates the responses that the directory lacks, over all ranks. Then verifies all responses
/// and writes the tables; table.txt is also printed to standard output. The tables depend neither
/// on the number of ranks nor on how often the program was killed. With `dry_run` it only checks
/// and logs what a start would do. Collective over the world. Throws Error.
void evaluate(Job& job, const std::filesystem::path& config, std::span<const std::string> overrides,
              bool dry_run = false);

}  // namespace lie
