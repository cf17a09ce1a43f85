// The responses that are judged: a seeded sample of a run's, stratified over its steps, or of the
// rows of a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/config/number_range.h"

namespace lie::judge {

struct SampleChoice {
  std::int64_t count = 200;         // in all, as evenly over the ranges as can be; 0: all
  std::int64_t seed = 1;            // of the draw
  std::vector<NumberRange> ranges;  // empty: the steps there are, as at most four ranges
  bool evaluation = false;          // a run's evaluation responses, instead of training's
  std::int64_t most_bytes = 60000;  // of a response; longer ones lose their middle
};

struct SampledResponse {
  std::int64_t step = 0;
  std::string place;  // "step 12, group 3, sample 0" or "rows.jsonl:7"
  std::string prompt, response;
  bool cut = false;  // the response is longer than SampleChoice::most_bytes
};

/// What was drawn from one run or file.
struct Sample {
  std::string source;
  std::vector<NumberRange> ranges;
  std::vector<SampledResponse> responses;
};

/// From a run directory, or from a JSONL file of "prompt" and "response" (texts) and, if it has
/// them, "step" (integer). Throws Error if there is nothing to draw from, or no tokenizer to decode
/// a run's responses with.
Sample draw_sample(const std::filesystem::path& source, const SampleChoice& choice);

/// A response that may be drawn, named by where it comes from.
struct Candidate {
  std::int64_t step = 0, group = 0;
  std::int32_t sample = 0;
};

/// Indices of the drawn, ascending. Each range gives `count` / ranges, or all it has; within a
/// range every step gives one before any gives two. A larger `count` draws the same and more.
std::vector<std::size_t> draw(std::span<const Candidate> candidates,
                              std::span<const NumberRange> ranges, std::int64_t count,
                              std::int64_t seed);

/// `text`, or its first and last bytes around a note where it has more than `most_bytes`. Cuts no
/// UTF-8 character.
std::string without_middle(const std::string& text, std::int64_t most_bytes);

}  // namespace lie::judge
