#include "learner/record/distinct_count.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <istream>
#include <limits>
#include <ostream>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr int kShardBits = 10;
constexpr std::size_t kShards = std::size_t{1} << kShardBits;
constexpr std::size_t kFirstSlots = 8;

/// Keys are looked up in blocks, so that their slots can be prefetched.
constexpr std::size_t kBlock = 64;

std::size_t shard_of(const StateKey& key) { return key.high >> (64 - kShardBits); }

/// Returns the slot at which the search for a key starts. Apart from collisions, keys are in
/// ascending order, so that a growing table is filled sequentially.
std::size_t place_of(std::uint64_t key, std::size_t slots) {
  return static_cast<std::size_t>((static_cast<unsigned __int128>(key) * slots) >> 64);
}

}  // namespace

KeySet::KeySet() : shards_(kShards) {
  for (Shard& shard : shards_) shard.slots.resize(kFirstSlots);
}

void KeySet::add(std::span<const StateKey> keys) {
  while (!keys.empty()) {
    const auto block = keys.first(std::min(keys.size(), kBlock));
    for (const StateKey& key : block) {
      const std::vector<std::uint64_t>& slots = shards_[shard_of(key)].slots;
      __builtin_prefetch(&slots[place_of(key.low, slots.size())], 1);
    }
    for (const StateKey& key : block) size_ += insert(shards_[shard_of(key)], key.low) ? 1 : 0;
    keys = keys.subspan(block.size());
  }
}

bool KeySet::insert(Shard& shard, std::uint64_t key) {
  std::vector<std::uint64_t>& slots = shard.slots;
  for (std::size_t at = place_of(key, slots.size());; at = at + 1 == slots.size() ? 0 : at + 1) {
    if (slots[at] == key) return false;
    if (slots[at] != 0) continue;
    slots[at] = key;
    if (4 * ++shard.used > 3 * slots.size()) grow(shard);
    return true;
  }
}

void KeySet::grow(Shard& shard) {
  Shard larger;
  larger.slots.resize(shard.slots.size() * 4 / 3 + kFirstSlots);
  for (const std::uint64_t key : shard.slots) {
    if (key != 0) insert(larger, key);
  }
  shard = std::move(larger);
}

std::vector<std::uint64_t> KeySet::keys_of(std::size_t shard) const {
  std::vector<std::uint64_t> keys;
  keys.reserve(shards_[shard].used);
  for (const std::uint64_t key : shards_[shard].slots) {
    if (key != 0) keys.push_back(key);
  }
  return keys;
}

std::size_t KeySet::memory_bytes() const {
  std::size_t bytes = shards_.size() * sizeof(Shard);
  for (const Shard& shard : shards_) bytes += shard.slots.size() * sizeof(std::uint64_t);
  return bytes;
}

void KeySet::clear() {
  for (Shard& shard : shards_) {
    std::fill(shard.slots.begin(), shard.slots.end(), 0);
    shard.used = 0;
  }
  size_ = 0;
}

void KeySet::write(std::ostream& out) const {
  for_each_shard([&](std::span<const std::uint64_t> keys) {
    const std::uint64_t count = keys.size();
    out.write(reinterpret_cast<const char*>(&count), sizeof count);
    out.write(reinterpret_cast<const char*>(keys.data()),
              static_cast<std::streamsize>(keys.size_bytes()));
  });
}

void KeySet::read(std::istream& in) {
  for (Shard& shard : shards_) {
    std::uint64_t count = 0;
    in.read(reinterpret_cast<char*>(&count), sizeof count);
    for (std::uint64_t key = 0; count > 0; --count) {
      if (!in.read(reinterpret_cast<char*>(&key), sizeof key)) return;
      size_ += insert(shard, key) ? 1 : 0;
    }
  }
}

namespace {

constexpr int kIndexBits = 18;
constexpr std::size_t kRegisters = HyperLogLog::kBytes;
static_assert(kRegisters == std::size_t{1} << kIndexBits);
static_assert(HyperLogLog::kStandardError == 1.04 / (1 << (kIndexBits / 2)));

constexpr int kRankBits = 64 - kIndexBits;  // q
constexpr double kLn2 = 0.693147180559945309417;

/// Returns x + sum over k >= 1 of x^(2^k) 2^(k-1), the term of registers that are still 0; x is
/// their share.
double sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double sum = x, weight = 1;
  for (double before = -1; sum != before; weight += weight) {
    x *= x;
    before = sum;
    sum += x * weight;
  }
  return sum;
}

/// Returns (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3, the term of registers at their
/// limit.
double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double sum = 1 - x, weight = 1;
  for (double before = -1; sum != before;) {
    x = __builtin_sqrt(x);
    before = sum;
    weight /= 2;
    sum -= (1 - x) * (1 - x) * weight;
  }
  return sum / 3;
}

}  // namespace

HyperLogLog::HyperLogLog() : registers_(kRegisters) {}

void HyperLogLog::add(std::uint64_t hash) {
  const std::uint64_t rest = hash << kIndexBits;
  const int rank = std::min(std::countl_zero(rest), kRankBits) + 1;
  std::uint8_t& held = registers_[hash >> kRankBits];
  held = std::max(held, static_cast<std::uint8_t>(rank));
}

double HyperLogLog::estimate() const {
  std::array<double, kRankBits + 2> counts = {};
  for (const std::uint8_t rank : registers_)
    counts[std::min<std::size_t>(rank, kRankBits + 1)] += 1;
  constexpr double kM = kRegisters;
  double z = kM * tau(1 - counts[kRankBits + 1] / kM);
  for (std::size_t rank = kRankBits; rank >= 1; --rank) z = (z + counts[rank]) / 2;
  z += kM * sigma(counts[0] / kM);
  return kM * kM / (2 * kLn2 * z);
}

void HyperLogLog::write(std::ostream& out) const {
  out.write(reinterpret_cast<const char*>(registers_.data()), kRegisters);
}

void HyperLogLog::read(std::istream& in) {
  in.read(reinterpret_cast<char*>(registers_.data()), kRegisters);
}

namespace {

std::int64_t exact_limit(std::int64_t budget_bytes) {
  if (budget_bytes < 1 << 20)
    fail("distinct n-grams: a budget of {} bytes; expected at least 2^20", budget_bytes);
  const auto bytes = budget_bytes - static_cast<std::int64_t>(KeySet::kFixedBytes);
  return static_cast<std::int64_t>(static_cast<double>(bytes) / KeySet::kBytesPerKey);
}

}  // namespace

DistinctCount::DistinctCount(std::int64_t budget_bytes) : exact_limit_(exact_limit(budget_bytes)) {}

void DistinctCount::add(std::span<const StateKey> keys) {
  if (!sketch_) {
    keys_.add(keys);
    estimate_beyond_budget();
  } else {
    for (const StateKey& key : keys) sketch_->add(key.low);
  }
}

void DistinctCount::estimate_beyond_budget() {
  if (keys_.size() <= exact_limit_) return;
  sketch_.emplace();
  keys_.for_each_shard([&](std::span<const std::uint64_t> shard) {
    for (const std::uint64_t key : shard) sketch_->add(key);
  });
  keys_ = KeySet();
}

std::int64_t DistinctCount::count() const {
  return sketch_ ? std::llround(sketch_->estimate()) : keys_.size();
}

std::size_t DistinctCount::memory_bytes() const {
  return keys_.memory_bytes() + (sketch_ ? HyperLogLog::kBytes : 0);
}

void DistinctCount::clear() {
  keys_.clear();
  sketch_.reset();
}

void DistinctCount::write(std::ostream& out) const {
  const std::uint64_t kind = sketch_ ? 1 : 0;
  out.write(reinterpret_cast<const char*>(&kind), sizeof kind);
  sketch_ ? sketch_->write(out) : keys_.write(out);
}

void DistinctCount::read(std::istream& in) {
  clear();
  std::uint64_t kind = 0;
  in.read(reinterpret_cast<char*>(&kind), sizeof kind);
  if (kind == 1) {
    sketch_.emplace().read(in);
  } else if (kind == 0) {
    keys_.read(in);
  } else {
    in.setstate(std::ios::failbit);
  }
  estimate_beyond_budget();
}

}  // namespace lie
