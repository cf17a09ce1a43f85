// Added tokens, special or not: found in the text before it is cut into words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer/tokenizer_json.h"
#include "model/tokenizer/unicode_table.h"

namespace lie {

/// A piece of text between added tokens, or (id >= 0) an added token.
struct Piece {
  std::string_view text;
  std::int32_t id = -1;
};

/// Finds a set of added tokens in text: leftmost first, of those the longest.
class AddedTokenFinder {
 public:
  AddedTokenFinder(std::vector<AddedToken> tokens, const UnicodeTable& table);
  AddedTokenFinder(const AddedTokenFinder&) = delete;
  AddedTokenFinder& operator=(const AddedTokenFinder&) = delete;

  /// Cuts valid UTF-8 into pieces that refer to it. White space that a token's lstrip and rstrip
  /// swallow belongs to no piece.
  void split(std::string_view text, std::vector<Piece>& out) const;

 private:
  struct Match {
    std::size_t begin = 0, end = 0;
    const AddedToken* token = nullptr;  // none: no further match
  };
  Match next_match(std::string_view text, std::size_t from) const;
  const AddedToken* longest_at(std::string_view text, std::size_t position) const;
  bool stands_alone(std::string_view text, const Match& match) const;
  std::size_t begin_of_spaces(std::string_view text, std::size_t position) const;
  std::size_t end_of_spaces(std::string_view text, std::size_t position) const;

  const UnicodeTable& table_;
  std::vector<AddedToken> tokens_;                       // by content
  std::span<const AddedToken> by_first_byte_[256] = {};  // stretches of tokens_
};

}  // namespace lie
