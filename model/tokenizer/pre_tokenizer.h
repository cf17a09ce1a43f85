// Splits a piece of text into words, which are then encoded one by one.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/tokenizer_json.h"
#include "model/tokenizer/unicode.h"

namespace lie {

/// A range of a text: a match of the pattern, or text between two matches.
struct TextRange {
  std::size_t begin = 0, end = 0;
  bool is_match = false;
};

/// One compiled pattern of a pre-tokenizer in Oniguruma's dialect, run by PCRE2 with the character
/// classes of the tokenizers library. Thread-safe, since matching changes no shared state.
///
/// PCRE2 and the tokenizers library use different versions of Unicode. Therefore the pattern is
/// matched against a substitute text, called the shadow, with one byte per code point. ASCII
/// characters are unchanged. Every other code point becomes a Latin-1 character of its class
/// (letter, number, space or other). PCRE2 then decides each class by one bit. A pattern that
/// distinguishes more than these classes (\p{Lu}, a literal beyond ASCII) is matched on the text
/// itself.
class Regex {
 public:
  /// Throws Error with PCRE2's message and the position if the pattern does not compile, or has no
  /// translation (pcre2_pattern).
  Regex(const std::string& oniguruma, const UnicodeTable& table);
  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  /// Splits `text`, which must be valid UTF-8, into matches and the text between them, without
  /// gaps.
  void split(std::string_view text, std::vector<TextRange>& out) const;

 private:
  struct Compiled;
  void split_bytes(std::string_view subject, std::vector<TextRange>& out) const;
  std::string shadow(std::string_view text) const;

  const UnicodeTable& table_;
  bool uses_shadow_ = true;
  std::unique_ptr<Compiled> compiled_;
};

/// The steps of "pre_tokenizer". Each step splits the results of the previous one. Thread-safe.
class PreTokenizer {
 public:
  using Word = std::function<void(std::string_view)>;

  /// Throws Error if a pattern cannot be compiled.
  PreTokenizer(std::span<const PreTokenizerStep> steps, const UnicodeTable& table);

  /// Calls `word` for each word of the piece, in order. The piece must be valid UTF-8.
  void split(std::string_view piece, const Word& word) const;

 private:
  struct Step {
    PreTokenizerStep spec;
    std::unique_ptr<Regex> regex;  // set for Split, and for ByteLevel with use_regex
  };
  void run(std::size_t step, std::string_view piece, const Word& word) const;
  void run_regex(std::size_t step, std::string_view piece, const Word& word) const;
  void run_digits(std::size_t step, std::string_view piece, const Word& word) const;

  const UnicodeTable& table_;
  std::vector<Step> steps_;
};

}  // namespace lie
