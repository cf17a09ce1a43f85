// Unicode normal form C, as the tokenizers library computes it.
#pragma once

#include <string>
#include <string_view>

#include "model/tokenizer/unicode_table.h"

namespace lie {

/// What tokenizer.json's "normalizer" asks for.
enum class Normalization { kNone, kNfc };

/// True if NFC leaves the text as it is; false if it may change it.
bool is_nfc(std::string_view text, const UnicodeTable& table);

/// NFC of valid UTF-8. Code points that the library's Unicode version does not know stay where they
/// are: only stretches around the ones it does know are handed to utf8proc.
std::string to_nfc(std::string_view text, const UnicodeTable& table);

}  // namespace lie
