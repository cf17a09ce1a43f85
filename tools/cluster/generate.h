// lie_cluster generate: a model's responses to the prompts of a file, by the actors' engine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>

#include "actors/rollout_options.h"
#include "tools/run/config/options.h"

namespace lie {

struct GenerateArguments {
  ModelOptions model = {};
  std::filesystem::path input = {};  // JSONL of prompts; "-": standard input
  /// max_response_tokens 0: 256, or what the longest prompt leaves of the model's positions.
  SamplingOptions sampling{.temperature = 1, .max_response_tokens = 0};
  std::int64_t samples = 1;  // responses a prompt
  std::int64_t seed = 1;
  std::int64_t slots = 64;  // responses in flight
  std::int64_t cache_mebibytes = 4096;
  bool add_special_tokens = false;
  bool ignore_end = false;  // go on after an end-of-sequence token
};

/// Writes each row again, once for each response and in order, with "response", "response_ids" (end
/// of sequence included), "log_probs", "finish" ("end_of_sequence" or "length") and, for several
/// samples, "sample". A response depends on weights, prompt, row number, sample number, sampling
/// options and seed alone. Throws Error before anything is computed if a row is bad.
void generate(const GenerateArguments& arguments, std::ostream& out);

}  // namespace lie
