// Counts the n-grams of one response (C_context) exactly. A rolling hash finds candidates, and
// every match is confirmed unit by unit, so hash collisions change no count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// A polynomial hash modulo 2^64: the sum of (unit + 1) * unit_factor * multiplier^k. Tests use
/// factors that collide more often than the defaults.
struct NgramHash {
  std::uint64_t unit_factor = 0xD6E8FEB86659FD93u, multiplier = 0x9E3779B97F4A7C15u;
};

/// Counts the n-grams of one response at a time. Storage is reused. Not thread-safe.
class NgramCounter {
 public:
  /// Requires n >= 1, else throws Error.
  explicit NgramCounter(std::int64_t n, NgramHash hash = {});

  /// Returns the number of distinct n-grams (C_context) and of all n-grams, and the occurrences of
  /// the most frequent one. All are zero for fewer than n units. Throws Error for 2^31 units or
  /// more.
  Coverage count(std::span<const std::int32_t> units);

 private:
  class Table;
  void prepare(std::size_t ngrams);

  std::size_t n_;
  NgramHash hash_;
  // A hash table with open addressing, at most a quarter full. The low bits of a slot hold the
  // position of an n-gram's first occurrence plus one. The bits above hold a part of its hash. An
  // empty slot is 0.
  std::vector<std::uint32_t> slots_;
  std::size_t used_slots_ = 0;             // slots in use for the current response
  std::vector<std::int32_t> occurrences_;  // indexed by the position of the first occurrence
};

}  // namespace lie
