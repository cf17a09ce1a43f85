#include "rewards/ngram_counter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/base/error.h"

namespace lie {
namespace {

std::size_t checked(std::int64_t n) {
  if (n < 1) fail("n-grams of {} units: expected at least 1 unit", n);
  return static_cast<std::size_t>(n);
}

/// Computes the hashes of all n-grams of a sequence in order, a block at a time.
class RollingHash {
 public:
  /// `units` holds at least n units.
  RollingHash(std::span<const std::int32_t> units, std::size_t n, const NgramHash& hash)
      : units_(units), n_(n), factor_(hash.unit_factor), multiplier_(hash.multiplier) {
    for (std::size_t i = 0; i < n; ++i) {
      value_ = value_ * hash.multiplier + of(units[i]);
      leaving_ *= hash.multiplier;
    }
  }

  /// Writes the next hashes. Returns their number, 0 at the end.
  std::size_t next(std::span<std::uint64_t> out) {
    const std::size_t ngrams = units_.size() - n_ + 1;
    const std::size_t count = std::min(out.size(), ngrams - done_);
    const bool ends = done_ + count == ngrams;  // the final n-gram has no successor
    const std::int32_t* const leaving = units_.data() + done_;
    const std::int32_t* const entering = leaving + n_;
    std::uint64_t value = value_;
    for (std::size_t i = 0; i + (ends ? 1 : 0) < count; ++i) {
      out[i] = value;
      // The term in parentheses does not depend on the previous hash: it can be computed ahead.
      value = value * multiplier_ + (of(entering[i]) - of(leaving[i]) * leaving_);
    }
    if (ends && count > 0) out[count - 1] = value;
    value_ = value;
    done_ += count;
    return count;
  }

 private:
  std::uint64_t of(std::int32_t unit) const {
    return (std::uint64_t{static_cast<std::uint32_t>(unit)} + 1) * factor_;
  }

  std::span<const std::int32_t> units_;
  std::size_t n_;
  std::uint64_t factor_, multiplier_;
  std::uint64_t value_ = 0;    // hash of the next n-gram
  std::uint64_t leaving_ = 1;  // multiplier^n
  std::size_t done_ = 0;
};

/// Number of hashes computed ahead of their use, so that their slots can be prefetched.
constexpr std::size_t kBlock = 64;

int shift_for(std::size_t slots) { return 64 - std::countr_zero(slots); }

}  // namespace

/// Counts one response in the counter's storage. Its members can be kept in registers.
class NgramCounter::Table {
 public:
  Table(NgramCounter& counter, std::span<const std::int32_t> units)
      : slots_(counter.slots_.data()),
        occurrences_(counter.occurrences_.data()),
        units_(units.data()),
        n_(counter.n_),
        mask_(counter.used_slots_ - 1),
        shift_(shift_for(counter.used_slots_)),
        position_bits_(std::bit_width(static_cast<unsigned>(units.size()))) {}

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(slots_ + (hash >> shift_), 1); }

  void add(std::uint32_t position, std::uint64_t hash) {
    const auto tag = static_cast<std::uint32_t>(hash << position_bits_);
    for (std::size_t at = hash >> shift_;; at = (at + 1) & mask_) {
      const std::uint32_t slot = slots_[at];
      if (slot == 0) {
        slots_[at] = tag | (position + 1);
        ++distinct_;
        return;
      }
      if (((slot ^ tag) >> position_bits_) != 0) continue;
      const std::uint32_t first = (slot ^ tag) - 1;
      if (confirm(first, position)) return found_again(first, position);
    }
  }

  std::int64_t distinct() const { return distinct_; }
  std::int32_t largest() const { return largest_; }

 private:
  bool confirm(std::uint32_t first, std::uint32_t position) const {
    const std::int32_t* const a = units_ + first;
    const std::int32_t* const b = units_ + position;
    // If both predecessors matched, the first n-1 units are known to be equal.
    const bool continues = first == next_first_ && position == next_position_;
    if (continues) return a[n_ - 1] == b[n_ - 1];
    return std::memcmp(a, b, n_ * sizeof(std::int32_t)) == 0;
  }

  void found_again(std::uint32_t first, std::uint32_t position) {
    largest_ = std::max(largest_, ++occurrences_[first]);
    next_first_ = first + 1;
    next_position_ = position + 1;
  }

  std::uint32_t* slots_;
  std::int32_t* occurrences_;
  const std::int32_t* units_;
  std::size_t n_, mask_;
  int shift_, position_bits_;
  std::int64_t distinct_ = 0;
  std::int32_t largest_ = 1;
  std::uint32_t next_first_ = 0;  // where the last confirmed match would continue
  std::uint32_t next_position_ = 0;
};

NgramCounter::NgramCounter(std::int64_t n, NgramHash hash) : n_(checked(n)), hash_(hash) {}

Coverage NgramCounter::count(std::span<const std::int32_t> units) {
  if (units.size() < n_) return {};
  if (units.size() > 0x7fffffff) fail("a response of {} units; at most 2^31 - 1", units.size());
  const std::size_t ngrams = units.size() - n_ + 1;
  prepare(ngrams);
  Table table(*this, units);
  RollingHash rolling(units, n_, hash_);
  std::array<std::uint64_t, kBlock> hashes;
  std::uint32_t position = 0;
  while (const std::size_t count = rolling.next(hashes)) {
    for (std::size_t i = 0; i < count; ++i) table.prefetch(hashes[i]);
    for (std::size_t i = 0; i < count; ++i) table.add(position++, hashes[i]);
  }
  return {.distinct_ngrams = table.distinct(),
          .ngrams = static_cast<std::int64_t>(ngrams),
          .largest_repeat = table.largest()};
}

void NgramCounter::prepare(std::size_t ngrams) {
  used_slots_ = std::bit_ceil(std::max<std::size_t>(4 * ngrams, 16));
  if (slots_.size() < used_slots_) slots_.resize(used_slots_);
  std::fill_n(slots_.begin(), used_slots_, 0u);
  occurrences_.assign(ngrams, 1);
}

}  // namespace lie
