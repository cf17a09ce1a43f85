// Counting n-grams of units (words or token ids) exactly: a rolling hash finds candidates, and
// every match is confirmed unit by unit, so no collision can change a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/rollout.h"

namespace lie {

/// A polynomial hash modulo 2^64: sum of (unit + 1) * unit_factor * multiplier^k. Tests put in
/// worse ones than the defaults.
struct NgramHash {
  std::uint64_t unit_factor = 0xD6E8FEB86659FD93u;
  std::uint64_t multiplier = 0x9E3779B97F4A7C15u;
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

/// The union of n-grams over many responses (C_global of a step or of the run). Keeps the units of
/// the responses it has seen, 4 bytes each, and 16 to 32 bytes per distinct n-gram. Not
/// thread-safe.
class NgramSet {
 public:
  /// n >= 1. Throws Error otherwise.
  explicit NgramSet(std::int64_t n, NgramHash hash = {});

  /// Adds one response; n-grams do not reach across responses. Returns how many were new.
  std::int64_t add(std::span<const std::int32_t> units);

  std::int64_t distinct() const { return distinct_; }  // C_global
  std::int64_t total() const { return total_; }        // n-grams added, repeats included
  /// R_global = distinct / total; 1 where there is none.
  double ratio() const;

  /// Forgets everything; keeps the storage.
  void clear();

 private:
  struct Slot {
    std::uint64_t position_plus_one : 40 = 0;  // in units_
    std::uint64_t tag : 24 = 0;
  };

  bool insert(std::uint64_t position, std::uint64_t hash);
  void make_room(std::size_t more);
  std::uint64_t hash_at(std::uint64_t position) const;

  std::size_t n_;
  NgramHash hash_;
  std::vector<std::int32_t> units_;  // of all responses with an n-gram, one after another
  std::vector<Slot> slots_;          // at most half full
  int shift_ = 0;
  std::int64_t distinct_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace lie
