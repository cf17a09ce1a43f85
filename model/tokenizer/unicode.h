// Code points: UTF-8, the classes of the tokenizers library, and normalization form C (NFC).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

/// Returns the number of bytes of the code point that begins with `lead`, in valid UTF-8.
inline std::size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/// Returns the code point at text[position], in valid UTF-8.
inline std::uint32_t utf8_decode(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[position + i]));
  };
  switch (utf8_length(text[position])) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3: return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 |
             (byte(3) & 0x3f);
  }
}

/// Returns the start of the code point that contains text[position]. Returns 0 if the text begins
/// within a code point.
inline std::size_t utf8_start(std::string_view text, std::size_t position) {
  while (position > 0 && (static_cast<unsigned char>(text[position]) & 0xc0) == 0x80) --position;
  return position;
}

/// Returns the start of the code point before text[position]. Requires position > 0.
inline std::size_t utf8_previous(std::string_view text, std::size_t position) {
  return utf8_start(text, position - 1);
}

bool is_valid_utf8(std::string_view text);

/// Returns the text with each maximal invalid subpart replaced by U+FFFD (Unicode standard, section
/// 3.9, "U+FFFD Substitution of Maximal Subparts"). Rust's from_utf8_lossy and Python's
/// errors="replace" do the same.
std::string repair_utf8(std::string_view text);

/// Properties of a code point in the tokenizers library, as bits. The library mixes versions of
/// Unicode, so make_unicode_ranges.py queried it and wrote its results to unicode_ranges.inc.
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

/// The "normalizer" of tokenizer.json.
enum class Normalization { kNone, kNfc };

/// Returns true if NFC does not change the text, and false if it may change it.
bool is_nfc(std::string_view text, const UnicodeTable& table);

/// Returns the NFC of `text`, which must be valid UTF-8. Code points unknown to the library's
/// version of Unicode stay in place, since utf8proc receives only substrings around known ones.
std::string to_nfc(std::string_view text, const UnicodeTable& table);

}  // namespace lie
