// Converts the token ids of a run's responses to text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

using Decoder = std::function<std::string(std::span<const std::int32_t> ids)>;

/// Returns a decoder with the tokenizer of the last checkpoint, or else of the start model that the
/// settings name. It shows special tokens. Without a tokenizer the text is the ids themselves.
Decoder decoder_of(const Run& run);

}  // namespace lie::analyze
