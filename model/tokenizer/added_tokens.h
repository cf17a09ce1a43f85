// Finds added tokens, special or not, in a text before the text is split into words.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/tokenizer/tokenizer_json.h"
#include "model/tokenizer/unicode.h"

namespace lie {

/// An added token (id >= 0), or a piece of text between added tokens.
struct Piece {
  std::string_view text;
  std::int32_t id = -1;
};

/// Finds a set of added tokens in a text. The leftmost match is first. Of matches that begin at the
/// same position, the longest is found.
class AddedTokenFinder {
 public:
  AddedTokenFinder(std::vector<AddedToken> tokens, const UnicodeTable& table);
  AddedTokenFinder(const AddedTokenFinder&) = delete;
  AddedTokenFinder& operator=(const AddedTokenFinder&) = delete;

  /// Splits `text`, which must be valid UTF-8, into pieces that refer to it. White space removed by
  /// a token's lstrip or rstrip belongs to no piece.
  void split(std::string_view text, std::vector<Piece>& out) const;

 private:
  struct Match {
    std::size_t begin = 0, end = 0;
    const AddedToken* token = nullptr;  // null if there is no further match
  };
  Match next_match(std::string_view text, std::size_t from) const;
  const AddedToken* longest_at(std::string_view text, std::size_t position) const;
  bool is_separate_word(std::string_view text, const Match& match) const;
  std::size_t begin_of_spaces(std::string_view text, std::size_t position) const;
  std::size_t end_of_spaces(std::string_view text, std::size_t position) const;

  const UnicodeTable& table_;
  std::vector<AddedToken> tokens_;                       // sorted by pattern
  std::span<const AddedToken> by_first_byte_[256] = {};  // ranges of tokens_
};

}  // namespace lie
