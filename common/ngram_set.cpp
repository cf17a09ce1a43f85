#include "common/ngram_set.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/error.h"

namespace lie {
namespace {

std::size_t checked(std::int64_t n) {
  if (n < 1) fail("n-grams of {} units; expected n of at least 1", n);
  return static_cast<std::size_t>(n);
}

/// The hashes of all n-grams of a sequence, in order, some at a time.
class RollingHash {
 public:
  /// `units` holds at least n units.
  RollingHash(std::span<const std::int32_t> units, std::size_t n, const NgramHash& hash)
      : units_(units), n_(n), hash_(hash) {
    for (std::size_t i = 0; i + 1 < n; ++i) value_ = value_ * hash.multiplier + of(units[i]);
    for (std::size_t i = 0; i + 1 < n; ++i) leaving_ *= hash.multiplier;
  }

  /// Writes the next hashes; returns how many (0 at the end).
  std::size_t next(std::span<std::uint64_t> out) {
    const std::size_t count = std::min(out.size(), units_.size() - n_ + 1 - done_);
    const std::int32_t* const first = units_.data() + done_;
    std::uint64_t value = value_;
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = value = value * hash_.multiplier + of(first[i + n_ - 1]);
      value -= of(first[i]) * leaving_;
    }
    value_ = value;
    done_ += count;
    return count;
  }

 private:
  std::uint64_t of(std::int32_t unit) const {
    return (std::uint64_t{static_cast<std::uint32_t>(unit)} + 1) * hash_.unit_factor;
  }

  std::span<const std::int32_t> units_;
  std::size_t n_;
  NgramHash hash_;
  std::uint64_t value_ = 0;    // of the n-1 units that the next n-gram begins with
  std::uint64_t leaving_ = 1;  // multiplier^(n-1)
  std::size_t done_ = 0;
};

/// Hashes ahead of their use, so that the slots are on their way from memory when they are needed.
constexpr std::size_t kBlock = 64;

int shift_for(std::size_t slots) { return 64 - std::countr_zero(slots); }

}  // namespace

NgramCounter::NgramCounter(std::int64_t n, NgramHash hash) : n_(checked(n)), hash_(hash) {}

Coverage NgramCounter::count(std::span<const std::int32_t> units) {
  if (units.size() < n_) return {};
  if (units.size() > 0x7fffffff) fail("a response of {} units; at most 2^31 - 1", units.size());
  const std::size_t ngrams = units.size() - n_ + 1;
  units_ = units;
  prepare(ngrams);
  RollingHash rolling(units, n_, hash_);
  std::array<std::uint64_t, kBlock> hashes;
  std::uint32_t position = 0;
  while (const std::size_t count = rolling.next(hashes)) {
    for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(&slots_[hashes[i] >> shift_], 1);
    for (std::size_t i = 0; i < count; ++i) take(position++, hashes[i]);
  }
  return {.distinct_ngrams = distinct_,
          .ngrams = static_cast<std::int64_t>(ngrams),
          .largest_repeat = largest_};
}

void NgramCounter::prepare(std::size_t ngrams) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * ngrams, 16));
  if (slots_.size() < slots) slots_.resize(slots);
  std::fill_n(slots_.begin(), slots, Slot());
  occurrences_.assign(ngrams, 1);
  mask_ = slots - 1;
  shift_ = shift_for(slots);
  distinct_ = 0;
  largest_ = 1;
  matched_first_ = matched_position_ = 0;
}

inline void NgramCounter::take(std::uint32_t position, std::uint64_t hash) {
  const auto tag = static_cast<std::uint32_t>(hash);
  for (std::size_t at = hash >> shift_;; at = (at + 1) & mask_) {
    Slot& slot = slots_[at];
    if (slot.position_plus_one == 0) {
      slot = {tag, position + 1};
      ++distinct_;
      return;
    }
    if (slot.tag == tag && confirm(slot.position_plus_one - 1, position)) {
      return found_again(slot.position_plus_one - 1, position);
    }
  }
}

bool NgramCounter::confirm(std::uint32_t first, std::uint32_t position) const {
  const std::int32_t* const a = units_.data() + first;
  const std::int32_t* const b = units_.data() + position;
  const bool goes_on =
      matched_position_ > 0 && matched_position_ + 1 == position && matched_first_ + 1 == first;
  if (goes_on) return a[n_ - 1] == b[n_ - 1];
  return std::memcmp(a, b, n_ * sizeof(std::int32_t)) == 0;
}

void NgramCounter::found_again(std::uint32_t first, std::uint32_t position) {
  largest_ = std::max(largest_, ++occurrences_[first]);
  matched_first_ = first;
  matched_position_ = position;
}

NgramSet::NgramSet(std::int64_t n, NgramHash hash) : n_(checked(n)), hash_(hash) {}

std::int64_t NgramSet::add(std::span<const std::int32_t> units) {
  if (units.size() < n_) return 0;
  const std::size_t begin = units_.size();
  units_.insert(units_.end(), units.begin(), units.end());
  RollingHash rolling(units, n_, hash_);
  std::array<std::uint64_t, kBlock> hashes;
  std::uint64_t position = begin;
  const std::int64_t before = distinct_;
  while (const std::size_t count = rolling.next(hashes)) {
    make_room(count);
    for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(&slots_[hashes[i] >> shift_], 1);
    for (std::size_t i = 0; i < count; ++i) distinct_ += insert(position++, hashes[i]) ? 1 : 0;
  }
  total_ += static_cast<std::int64_t>(position - begin);
  if (distinct_ == before) units_.resize(begin);  // no slot points into it
  return distinct_ - before;
}

bool NgramSet::insert(std::uint64_t position, std::uint64_t hash) {
  const std::uint64_t tag = hash & 0xffffff;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash >> shift_;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.position_plus_one == 0) {
      slot.position_plus_one = (position + 1) & 0xffffffffff;
      slot.tag = tag & 0xffffff;
      return true;
    }
    const std::uint64_t known = slot.position_plus_one - 1;
    if (slot.tag == tag &&
        std::memcmp(&units_[known], &units_[position], n_ * sizeof(std::int32_t)) == 0) {
      return false;
    }
  }
}

void NgramSet::make_room(std::size_t more) {
  const std::size_t wanted = 2 * (static_cast<std::size_t>(distinct_) + more);
  if (wanted <= slots_.size()) return;
  if (units_.size() >= (std::size_t{1} << 40) - 1) fail("more than 2^40 units; start another run");
  std::vector<Slot> old(std::bit_ceil(wanted));
  old.swap(slots_);
  shift_ = shift_for(slots_.size());
  for (const Slot& slot : old) {
    if (slot.position_plus_one == 0) continue;
    const std::uint64_t position = slot.position_plus_one - 1;
    std::size_t at = hash_at(position) >> shift_;
    while (slots_[at].position_plus_one != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::uint64_t NgramSet::hash_at(std::uint64_t position) const {
  std::array<std::uint64_t, 1> hash = {};
  RollingHash(std::span(units_).subspan(position, n_), n_, hash_).next(hash);
  return hash[0];
}

double NgramSet::ratio() const {
  return total_ > 0 ? static_cast<double>(distinct_) / static_cast<double>(total_) : 1.0;
}

void NgramSet::clear() {
  units_.clear();
  std::fill(slots_.begin(), slots_.end(), Slot());
  distinct_ = 0;
  total_ = 0;
}

}  // namespace lie
