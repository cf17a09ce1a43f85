// A few responses of a step, and those of the last step as text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/analyze/run.h"

namespace lie::analyze {

using Decoder = std::function<std::string(std::span<const std::int32_t> ids)>;

/// Returns a decoder with the tokenizer of the last checkpoint, or else of the start model that the
/// settings name. It shows special tokens. Without a tokenizer the text is the ids themselves.
Decoder decoder_of(const Run& run);

/// Returns indices into run.samples of at most `count` training responses of a step. They belong to
/// different groups and alternate between correct and incorrect where possible.
std::vector<std::size_t> responses_of_step(const Run& run, std::int64_t step, std::size_t count);

/// Returns the responses of the last training step as plain text: at most `count`, alternately
/// correct and incorrect where possible. Empty if no training step is complete.
std::string last_responses(const Run& run, const Decoder& decode, std::size_t count);

}  // namespace lie::analyze
