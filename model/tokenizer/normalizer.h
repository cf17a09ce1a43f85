// Unicode normalization form C (NFC), with the results of the tokenizers library.
#pragma once

#include <string>
#include <string_view>

#include "model/tokenizer/unicode_table.h"

namespace lie {

/// The "normalizer" of tokenizer.json.
enum class Normalization { kNone, kNfc };

/// Returns true if NFC does not change the text, and false if it may change it.
bool is_nfc(std::string_view text, const UnicodeTable& table);

/// Returns the NFC of `text`, which must be valid UTF-8. Code points unknown to the library's
/// version of Unicode stay in place, since utf8proc receives only substrings around known ones.
std::string to_nfc(std::string_view text, const UnicodeTable& table);

}  // namespace lie
