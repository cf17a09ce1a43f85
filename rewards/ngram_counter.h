// Counting the n-grams of one response (C_context) exactly: a rolling hash finds candidates, and
// every match is confirmed unit by unit, so no collision can change a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// A polynomial hash modulo 2^64: sum of (unit + 1) * unit_factor * multiplier^k. Tests put in
/// worse ones than the defaults.
struct NgramHash {
  std::uint64_t unit_factor = 0xD6E8FEB86659FD93u, multiplier = 0x9E3779B97F4A7C15u;
};

/// Counts the n-grams of one response at a time. Storage is reused. Not thread-safe.
class NgramCounter {
 public:
  /// n >= 1. Throws Error otherwise.
  explicit NgramCounter(std::int64_t n, NgramHash hash = {});

  /// Distinct n-grams (C_context), all n-grams, and occurrences of the most frequent one. Fewer
  /// than n units have no n-gram: all zero. Throws Error for 2^31 units or more.
  Coverage count(std::span<const std::int32_t> units);

 private:
  class Table;
  void prepare(std::size_t ngrams);

  std::size_t n_;
  NgramHash hash_;
  // Open addressing, at most a quarter full. A slot holds the position of an n-gram's first
  // occurrence, plus one, in as many low bits as positions need, and bits of its hash above them; 0
  // is empty.
  std::vector<std::uint32_t> slots_;
  std::size_t used_slots_ = 0;             // for the present response
  std::vector<std::int32_t> occurrences_;  // by position of the first one
};

}  // namespace lie
