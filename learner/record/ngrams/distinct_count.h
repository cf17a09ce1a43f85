// How many different n-grams there are, in bounded memory: exact as long as the budget holds them,
// estimated beyond.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>

#include "learner/record/ngrams/hyper_log_log.h"
#include "learner/record/ngrams/key_set.h"

namespace lie {

/// Counts in a KeySet until it would outgrow its budget, from then on in a HyperLogLog that all
/// keys so far have entered. Which of the two, and the count, depend on the set of keys alone, not
/// on their order, nor on who added them when. Not thread-safe.
class DistinctCount {
 public:
  /// Bytes that the keys may take, at least 2^20: up to (bytes - 2^18) / 14.3 of them are counted
  /// exactly.
  explicit DistinctCount(std::int64_t budget_bytes);

  void add(std::span<const StateKey> keys);

  std::int64_t count() const;
  /// Relative standard error of count(); 0: it is exact.
  double error() const { return sketch_ ? HyperLogLog::kStandardError : 0; }
  std::size_t memory_bytes() const;

  /// Forgets everything; counts exactly again.
  void clear();

  /// uint64 0 and a KeySet, or uint64 1 and a HyperLogLog; 8 bytes a key, or 256 KiB.
  void write(std::ostream& out) const;
  /// Replaces this by what write() wrote. A damaged stream is left in a failed state.
  void read(std::istream& in);

 private:
  void estimate_beyond_budget();

  std::int64_t exact_limit_;  // keys
  KeySet keys_;               // empty once there is a sketch
  std::optional<HyperLogLog> sketch_;
};

}  // namespace lie
