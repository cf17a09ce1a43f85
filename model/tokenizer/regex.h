// The regular expressions of pre-tokenizers: PCRE2, with the character classes of the tokenizers
// library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/unicode_table.h"

namespace lie {

/// A stretch of a text; `is_match` tells the pattern's matches from the text between them.
struct Stretch {
  std::size_t begin = 0, end = 0;
  bool is_match = false;
};

/// One compiled pattern. Thread-safe: matching changes nothing shared.
///
/// PCRE2 and the tokenizers library have tables of different Unicode versions. So the pattern is
/// matched against a shadow of the text, one byte per code point: ASCII stands for itself, any
/// other code point for a Latin-1 character of its class (letter, number, space, other). This also
/// lets PCRE2 decide each class by one bit. A pattern that tells more apart than these classes
/// (\p{Lu}, a literal beyond ASCII) is matched on the text itself.
class Regex {
 public:
  /// Throws Error with PCRE2's message and the position if the pattern cannot be compiled.
  Regex(const std::string& pattern, const UnicodeTable& table);
  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  /// Cuts the text (valid UTF-8) into matches and the text between; covers it without gaps.
  void split(std::string_view text, std::vector<Stretch>& out) const;

 private:
  struct Compiled;
  void split_bytes(std::string_view subject, std::vector<Stretch>& out) const;
  std::string shadow(std::string_view text) const;

  const UnicodeTable& table_;
  bool uses_shadow_ = true;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace lie
