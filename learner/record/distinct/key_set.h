// A set of n-grams, in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

#include "common/text/units.h"

namespace lie {

/// A hash set that grows to any size in small steps. It keeps all 64 bits of `low` and the upper 10
/// bits of `high`. Keys that agree in these count as one. This happens among N random keys with
/// probability N^2 / 2^75, which is 3e-7 for N = 10^8. A key takes 10.7 to 14.3 bytes, also while
/// the set grows. Not thread-safe.
class KeySet {
 public:
  KeySet();

  void add(std::span<const StateKey> keys);
  std::int64_t size() const { return size_; }
  std::size_t memory_bytes() const;

  /// Calls visit(span<const std::uint64_t>) with the `low` of all keys, one shard at a time.
  template <typename Visit>
  void for_each_shard(Visit&& visit) const {
    for (std::size_t i = 0; i < shards_.size(); ++i) visit(keys_of(i));
  }

  /// Removes all keys and keeps the storage.
  void clear();

  /// Writes for each of 1024 shards the number of keys as uint64, then the `low` of each key;
  /// little-endian.
  void write(std::ostream& out) const;
  /// Adds the keys that write() wrote. Returns early if the stream ends; the caller must check it.
  void read(std::istream& in);

  /// The largest size of one key, and the fixed size of the set.
  static constexpr double kBytesPerKey = 14.3;
  static constexpr std::size_t kFixedBytes = std::size_t{256} << 10;

 private:
  /// An open-addressed hash table. Growing the set copies one shard only.
  struct Shard {
    std::vector<std::uint64_t> slots;  // at most 3/4 full; 0 is empty
    std::size_t used = 0;
  };

  static bool insert(Shard& shard, std::uint64_t key);
  static void grow(Shard& shard);
  std::vector<std::uint64_t> keys_of(std::size_t shard) const;

  std::vector<Shard> shards_;  // indexed by the upper bits of StateKey::high
  std::int64_t size_ = 0;
};

}  // namespace lie
