// Byte-level byte-pair encoding of one word (Sennrich et al., arXiv:1508.07909).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/tokenizer/tokenizer_json.h"

namespace lie {

/// The printable characters that represent bytes in a byte-level vocabulary (GPT-2's table).
/// Maps each byte to a character. Printable Latin-1 characters represent themselves. The other
/// bytes map to U+0100 and the characters after it, in order.
class ByteMap {
 public:
  ByteMap();
  /// Returns the character of a byte, in UTF-8.
  std::string character(std::uint8_t byte) const;
  /// Returns the bytes that a vocabulary entry represents. Returns none if one of its characters
  /// represents no byte.
  std::optional<std::string> bytes(std::string_view token) const;

 private:
  static constexpr std::uint32_t kLastCharacter = 0x143;
  std::array<std::uint32_t, 256> characters_ = {};
  std::array<std::int16_t, kLastCharacter + 1> bytes_ = {};  // -1 for a character of no byte
};

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

/// A direct-mapped cache of the ids of recent short words: each word has one possible entry, which
/// a newer word overwrites. Each entry fills one cache line. The cache affects only speed, not
/// results.
class WordCache {
 public:
  static constexpr std::size_t kMaxWordBytes = 24;
  static constexpr std::size_t kMaxIds = 9;

  WordCache() : entries_(kEntries) {}

  /// A short word, padded to the width of an entry, and the index of its entry.
  struct Key {
    std::array<std::uint64_t, kMaxWordBytes / 8> words = {};
    std::uint16_t bytes = 0;
    std::size_t place = 0;
  };

  /// Returns the key of a word of 1 to kMaxWordBytes bytes.
  static Key key(std::string_view word) {
    Key key;
    std::memcpy(key.words.data(), word.data(), word.size());
    key.bytes = static_cast<std::uint16_t>(word.size());
    std::uint64_t hash = key.bytes;
    for (const std::uint64_t part : key.words)
      hash = (hash ^ part) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    key.place = hash % kEntries;
    return key;
  }

  /// Returns the word's ids, or an empty span if the cache does not contain it.
  std::span<const std::int32_t> find(const Key& key) const {
    const Entry& entry = entries_[key.place];
    if (entry.bytes != key.bytes || entry.words != key.words) return {};
    return {entry.ids.data(), entry.count};
  }

  void store(const Key& key, std::span<const std::int32_t> ids) {
    if (ids.empty() || ids.size() > kMaxIds) return;
    Entry& entry = entries_[key.place];
    entry.words = key.words;
    entry.bytes = key.bytes;
    entry.count = static_cast<std::uint16_t>(ids.size());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
  }

 private:
  static constexpr std::size_t kEntries = std::size_t{1} << 16;

  struct alignas(64) Entry {
    std::array<std::uint64_t, kMaxWordBytes / 8> words = {};
    std::array<std::int32_t, kMaxIds> ids = {};
    std::uint16_t bytes = 0;  // of the word, or 0 for an empty entry
    std::uint16_t count = 0;
  };
  static_assert(sizeof(Entry) == 64);

  std::vector<Entry> entries_;
};

}  // namespace lie
