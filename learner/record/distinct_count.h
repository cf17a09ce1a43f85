// Counts distinct n-grams in bounded memory: exactly within a memory budget, estimated beyond it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
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

/// HyperLogLog: estimates the number of distinct hashes in fixed memory (Flajolet, Fusy, Gandouet,
/// Meunier, "HyperLogLog", 2007). The estimator is algorithm 6 of Ertl, "New cardinality estimation
/// algorithms for HyperLogLog sketches", arXiv:1702.01284, which needs no correction tables. It is
/// implemented here because no Linux distribution packages a C++ library for it. The sketch depends
/// on the set only: neither order nor repeats change it.
class HyperLogLog {
 public:
  HyperLogLog();

  /// Adds a hash of 64 well-mixed bits.
  void add(std::uint64_t hash);

  /// Returns the unbiased estimate. The order of operations is fixed, so that it is bit-identical
  /// on every machine.
  double estimate() const;

  /// The relative standard error, 1.04 / sqrt(m) with m = 2^18 registers of one byte: 0.2 %.
  static constexpr double kStandardError = 1.04 / 512;
  static constexpr std::size_t kBytes = std::size_t{1} << 18;

  /// Writes the registers, one byte each; read() replaces them.
  void write(std::ostream& out) const;
  void read(std::istream& in);

 private:
  std::vector<std::uint8_t> registers_;
};

/// Counts with a KeySet until it exceeds its budget, then with a HyperLogLog to which all keys so
/// far are added. Both the choice and the count depend on the set of keys only, not on the order in
/// which they are added. Not thread-safe.
class DistinctCount {
 public:
  /// Limits the keys to `budget_bytes`, at least 2^20; throws Error otherwise. Up to
  /// (budget_bytes - 2^18) / 14.3 keys are counted exactly.
  explicit DistinctCount(std::int64_t budget_bytes);

  void add(std::span<const StateKey> keys);

  std::int64_t count() const;
  /// Returns the relative standard error of count(); 0 if it is exact.
  double error() const { return sketch_ ? HyperLogLog::kStandardError : 0; }
  std::size_t memory_bytes() const;

  /// Removes all keys and returns to exact counting.
  void clear();

  /// Writes uint64 0 and the KeySet, 8 bytes per key, or uint64 1 and the HyperLogLog, 256 KiB.
  void write(std::ostream& out) const;
  /// Replaces this count by one that write() wrote. Sets failbit if the stream is damaged.
  void read(std::istream& in);

 private:
  void estimate_beyond_budget();

  std::int64_t exact_limit_;  // keys
  KeySet keys_;               // empty if there is a sketch
  std::optional<HyperLogLog> sketch_;
};

}  // namespace lie
