// How the tokenizers library classifies each code point.
#pragma once

#include <cstdint>
#include <vector>

namespace lie {

/// Properties of a code point, as bits. The library mixes versions of Unicode; unicode_ranges.inc
/// holds its own answers (make_unicode_ranges.py).
enum UnicodeFlag : std::uint8_t {
  kLetter = 1,      // \p{L} of regular expressions
  kNumber = 2,      // \p{N} of regular expressions
  kSpace = 4,       // \s
  kNumeric = 8,     // what the pre-tokenizer Digits splits off
  kWord = 16,       // \w beside an added token that must stand alone
  kNfcActive = 32,  // NFC changes it, moves it, or joins it to what precedes it
};

/// Flags by code point. About 1.1 MB; one per tokenizer.
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
