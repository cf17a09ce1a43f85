// A set of hashes that grows to any size in small steps: how C_global is counted exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <vector>

namespace lie {

/// Stands for an n-gram: a well-mixed hash, of which a KeySet keeps all 64 bits of `low` and the
/// upper 10 of `high`.
struct StateKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;  // never 0
};

/// Keys that agree in the 74 bits kept are one: among N random keys with probability N^2 / 2^75,
/// 3e-7 for 10^8. Takes 10.7 to 14.3 bytes a key, while it grows, too. Not thread-safe.
class KeySet {
 public:
  KeySet();

  void add(std::span<const StateKey> keys);
  std::int64_t size() const { return size_; }
  std::size_t memory_bytes() const;

  /// Calls take(span<const std::uint64_t>) with the `low` of all keys, a part at a time.
  template <typename Take>
  void for_each_part(Take&& take) const {
    for (std::size_t i = 0; i < shards_.size(); ++i) take(keys_of(i));
  }

  /// Forgets everything; keeps the storage.
  void clear();

  /// 1024 times: the number of keys as uint64, then the `low` of each; little-endian.
  void write(std::ostream& out) const;
  /// Adds what write() wrote. Ends early where the stream does: the caller checks it.
  void read(std::istream& in);

  /// What one key takes at most, and the set itself: for budgets.
  static constexpr double kBytesPerKey = 14.3;
  static constexpr std::size_t kFixedBytes = std::size_t{256} << 10;

 private:
  /// An open-addressed table of its own, so that growing needs room for a copy of this part only.
  struct Shard {
    std::vector<std::uint64_t> slots;  // at most 3/4 full; 0 is empty
    std::size_t used = 0;
  };

  static bool insert(Shard& shard, std::uint64_t key);
  static void grow(Shard& shard);
  std::vector<std::uint64_t> keys_of(std::size_t shard) const;

  std::vector<Shard> shards_;  // by the upper bits of StateKey::high
  std::int64_t size_ = 0;
};

}  // namespace lie
