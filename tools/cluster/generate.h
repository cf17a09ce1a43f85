// lie_cluster generate: responses to the prompts of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "actors/rollout_options.h"
#include "tools/run/config/model_options.h"

namespace lie {

struct GenerateArguments {
  ModelOptions model = {};
  std::filesystem::path input = {};  // JSONL of prompts; "-": standard input
  /// If max_response_tokens is 0, it becomes 256, or the positions that the longest prompt leaves
  /// if these are fewer.
  SamplingOptions sampling{.temperature = 1, .max_response_tokens = 0};
  std::int64_t samples = 1;  // responses to each prompt
  std::int64_t seed = 1;
  std::int64_t slots = 64;  // responses in flight
  std::int64_t cache_mebibytes = 0;
  bool add_special_tokens = false;
  std::vector<std::string> overrides = {};  // key=value of data.*: how rows become prompts
  bool ignore_end = false;                  // continue after an end-of-sequence token
};

/// Writes each row once for each response, in order, with these fields added: "response",
/// "response_ids" (end of sequence included), "log_probs", "finish" ("end_of_sequence" or "length")
/// and, for several samples, "sample". A response depends only on weights, prompt, row number,
/// sample number, sampling options and seed. Throws Error before anything is computed if a row is
/// invalid.
void generate(const GenerateArguments& arguments, std::ostream& out);

}  // namespace lie
