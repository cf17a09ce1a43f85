// lie_cluster reference-lengths: measures L_ref, the response length of the initial policy, for
// each prompt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/comm/job.h"

namespace lie {

struct ReferenceLengthsArguments {
  std::filesystem::path config;        // of the training run: model, data.train_file, rollout
  std::vector<std::string> overrides;  // key=value
  std::filesystem::path output;        // the rows of data.train_file with reference_length
  std::int64_t samples = 4;            // responses to each prompt
};

/// Samples from model.path as the run's actors would, over all ranks, and writes the rows with each
/// prompt's mean response length in tokens (end of sequence included). The output is Parquet if the
/// data is Parquet and the output's name ends in .parquet, else JSONL. Rows skipped by
/// data.skip_bad_rows are omitted from JSONL and have NaN in Parquet. If it is killed and started
/// again, it continues from `output`.progress. The output does not depend on the number of ranks.
/// Collective over the world. Throws Error.
void reference_lengths(Job& job, const ReferenceLengthsArguments& arguments);

}  // namespace lie
