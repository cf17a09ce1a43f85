// lie_cluster eval: a model's accuracy on problem sets, measured as the paper measures it.
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

/// Generates what the directory lacks, over all ranks, then verifies everything and writes the
/// tables; the text also goes to standard output. The tables do not depend on the number of ranks,
/// nor on how often the program was killed. With `dry_run` all checks of a start are made and told
/// of, nothing is generated or written. Collective over the world. Throws Error.
void evaluate(Job& job, const std::filesystem::path& config, std::span<const std::string> overrides,
              bool dry_run = false);

}  // namespace lie
