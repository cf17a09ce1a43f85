// Byte-level byte-pair encoding of one word (Sennrich et al., arXiv:1508.07909).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/tokenizer/tokenizer_json.h"

namespace lie {

/// The merges and the byte vocabulary of one tokenizer. Thread-safe.
class Bpe {
 public:
  /// Throws Error if the vocabulary lacks a merge's token or the unknown token, or contains a token
  /// twice.
  explicit Bpe(const BpeSpec& spec);

  /// Appends the ids of one word. Pairs of adjacent tokens, at first bytes, are merged: the lowest
  /// rank first, and the leftmost of equal ranks. A byte outside the vocabulary becomes the tokens
  /// of byte fallback if they exist, otherwise the unknown token. Without an unknown token it is
  /// dropped, as in the tokenizers library. The time is n log n for a word of n bytes.
  void encode(std::string_view word, std::vector<std::int32_t>& out) const;

 private:
  struct Merge {
    std::uint64_t pair = kNoPair;  // left id << 32 | right id
    std::uint32_t rank = 0;
    std::int32_t joined = 0;
  };
  static constexpr std::uint64_t kNoPair = ~std::uint64_t{0};

  void add_merge(const Merge& merge);
  const Merge* find(std::int32_t left, std::int32_t right) const;
  std::size_t slot(std::uint64_t pair) const;
  void merge_short(std::vector<std::int32_t>& symbols) const;
  void merge_long(std::vector<std::int32_t>& symbols) const;

  std::vector<std::int32_t> symbols_of(std::string_view word) const;

  std::int32_t byte_ids_[256] = {};  // -1 for a byte that is not in the vocabulary
  // The tokens of byte fallback by byte. Empty if the byte's own token or one of them is missing.
  std::array<std::vector<std::int32_t>, 256> fallback_ids_;
  std::int32_t unknown_id_ = -1;  // -1 if there is no unknown token
  bool fuses_unknown_ = false;
  std::vector<Merge> merges_;  // a hash table with open addressing, of 2^n entries
  bool ignores_merges_ = false;
  // The id of each token, by its bytes. Empty unless ignores_merges_.
  std::unordered_map<std::string, std::int32_t> word_ids_;
};

}  // namespace lie
