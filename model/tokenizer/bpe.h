// Byte-pair encoding of one word (Sennrich et al., arXiv:1508.07909) over bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/tokenizer/tokenizer_json.h"

namespace lie {

/// The merges and the vocabulary of bytes. Thread-safe: encoding changes nothing.
class Bpe {
 public:
  /// Throws Error if the vocabulary lacks a merge's token or the unknown token, or holds a token
  /// twice.
  explicit Bpe(const BpeSpec& spec);

  /// Appends the ids of one word: its bytes, joined pair by pair, the pair of lowest rank first and
  /// of equal ranks the leftmost. A byte that the vocabulary lacks becomes the unknown token, or is
  /// dropped where there is none, as in the library.
  /// Time: n log n for a word of n bytes.
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

  std::int32_t byte_ids_[256] = {};  // -1: not in the vocabulary
  std::int32_t unknown_id_ = -1;     // -1: there is none
  bool fuses_unknown_ = false;
  std::vector<Merge> merges_;  // open addressing; the size is a power of two
  bool ignores_merges_ = false;
  // By bytes; filled if ignores_merges_.
  std::unordered_map<std::string, std::int32_t> whole_words_;
};

}  // namespace lie
