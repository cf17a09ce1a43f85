// A cache of the ids of recent words.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace lie {

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
