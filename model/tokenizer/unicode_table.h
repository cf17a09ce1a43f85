// The classification of each code point by the tokenizers library.
#pragma once

#include <cstdint>
#include <vector>

namespace lie {

/// Properties of a code point, as bits. The library mixes versions of Unicode, so
/// make_unicode_ranges.py queried it and wrote its results to unicode_ranges.inc.
enum UnicodeFlag : std::uint8_t {
  kLetter = 1,      // \p{L} of regular expressions
  kNumber = 2,      // \p{N} of regular expressions
  kSpace = 4,       // \s
  kNumeric = 8,     // a digit for the pre-tokenizer Digits
  kWord = 16,       // \w: it may not be adjacent to an added token with single_word
  kNfcActive = 32,  // NFC changes it, moves it, or combines it with the previous code point
};

/// The flags of all code points, about 1.1 MB. Each tokenizer has one table.
class UnicodeTable {
 public:
  UnicodeTable();
  std::uint8_t flags(std::uint32_t code_point) const { return flags_[code_point]; }
  bool has(std::uint32_t code_point, UnicodeFlag flag) const {
    return (flags_[code_point] & flag) != 0;
  }

 private:
  std::vector<std::uint8_t> flags_;
};

}  // namespace lie
