// Token ids of a run's responses as text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tools/analyze/run.h"

namespace lie::analyze {

using Decoder = std::function<std::string(std::span<const std::int32_t> ids)>;

/// Decodes with the tokenizer of the last checkpoint, else of the start model that the settings
/// name (special tokens shown). Without either the text is the ids themselves.
Decoder decoder_of(const Run& run);

/// Whether decoder_of gives texts.
bool has_tokenizer(const Run& run);

}  // namespace lie::analyze
