// lie_cluster reference-lengths: L_ref, how long the initial policy's responses are, for each
// prompt.
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
  std::int64_t samples = 4;            // responses a prompt
};

/// Samples from model.path as the run's actors would, over all ranks, and writes each prompt's mean
/// response length in tokens (end-of-sequence counted) beside its row: a Parquet file again if the
/// data is Parquet and the output's name ends in .parquet, else JSONL. Rows skipped by
/// data.skip_bad_rows are left out of JSONL and have NaN in Parquet. If killed and started again,
/// it continues (`output`.progress). The output does not depend on the number of ranks. Collective
/// over the world. Throws Error.
void reference_lengths(Job& job, const ReferenceLengthsArguments& arguments);

}  // namespace lie
