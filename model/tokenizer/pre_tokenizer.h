// Cuts a piece of text into the words that are byte-pair encoded one by one.
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

/// The steps of "pre_tokenizer" in order, each cutting what the one before left. Thread-safe.
class PreTokenizer {
 public:
  using Word = std::function<void(std::string_view)>;

  /// Throws Error if a pattern cannot be compiled.
  PreTokenizer(std::span<const PreTokenizerStep> steps, const UnicodeTable& table);

  /// Calls `word` for each word of the piece (valid UTF-8), in order.
  void split(std::string_view piece, const Word& word) const;

 private:
  struct Step {
    PreTokenizerStep spec;
    std::unique_ptr<Regex> regex;  // of Split and of ByteLevel with use_regex
  };
  void run(std::size_t step, std::string_view piece, const Word& word) const;
  void run_regex(std::size_t step, std::string_view piece, const Word& word) const;
  void run_digits(std::size_t step, std::string_view piece, const Word& word) const;

  const UnicodeTable& table_;
  std::vector<Step> steps_;
};

}  // namespace lie
