// Splits a piece of text into words, which are then encoded one by one.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "model/tokenizer/regex.h"
#include "model/tokenizer/tokenizer_json.h"
#include "model/tokenizer/unicode_table.h"

namespace lie {

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
