#include "learner/record/distinct/key_set.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <utility>

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

}  // namespace lie
