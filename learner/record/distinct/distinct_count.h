// Counts distinct n-grams in bounded memory: exactly within a memory budget, estimated beyond it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>

#include "common/text/units.h"
#include "learner/record/distinct/hyperloglog.h"
#include "learner/record/distinct/key_set.h"

namespace lie {

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
