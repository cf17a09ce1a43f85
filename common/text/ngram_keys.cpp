#include "common/text/ngram_keys.h"

#include "common/base/error.h"

namespace lie {
namespace {

using Wide = unsigned __int128;

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

/// Returns x mod kPrime. Requires x below 2^124.
std::uint64_t residue(Wide x) {
  const auto sum = static_cast<std::uint64_t>(x & kPrime) + static_cast<std::uint64_t>(x >> 61);
  const std::uint64_t folded = (sum & kPrime) + (sum >> 61);
  return folded >= kPrime ? folded - kPrime : folded;
}

/// The rolling polynomial of the last n units at one point.
class Rolling {
 public:
  Rolling(std::uint64_t point, std::size_t n) : point_(point) {
    std::uint64_t power = 1;
    for (std::size_t i = 0; i < n; ++i) power = residue(Wide{power} * point);
    minus_power_ = kPrime - power;
  }

  std::uint64_t next(std::uint64_t entering, std::uint64_t leaving) {
    return value_ = residue(Wide{value_} * point_ + Wide{leaving} * minus_power_ + entering);
  }

 private:
  std::uint64_t point_, minus_power_;  // -(point^n)
  std::uint64_t value_ = 0;
};

/// The 64-bit finalizer of MurmurHash3, a bijection.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

// Arbitrary constants: binary digits of pi.
constexpr std::uint64_t kFirstPoint = 0x243F6A8885A308D3u >> 3;
constexpr std::uint64_t kSecondPoint = 0x13198A2E03707344u >> 3;
constexpr std::uint64_t kHighOffset = 0x452821E638D01377u, kLowOffset = 0xBE5466CF34E90C6Cu;

/// Mixes the two sums. The map is a bijection, because the product of the factors is even, except
/// that a `low` of 0 becomes 1. The offsets keep n-grams of zeros away from the finalizer's fixed
/// point.
StateKey key_of(std::uint64_t first, std::uint64_t second) {
  const std::uint64_t high = mixed(second * 0xC2B2AE3D27D4EB4Fu + first + kHighOffset);
  const std::uint64_t low = mixed(first * 0x9E3779B97F4A7C16u + second + kLowOffset);
  return {high, low == 0 ? 1 : low};
}

}  // namespace

void ngram_keys(std::span<const UnitHash> units, std::int64_t n, std::vector<StateKey>& keys) {
  if (n < 1) fail("n-grams of {} units; expected at least 1", n);
  keys.clear();
  const auto length = static_cast<std::size_t>(n);
  if (units.size() < length) return;
  keys.reserve(units.size() - length + 1);
  Rolling first(kFirstPoint, length), second(kSecondPoint, length);
  for (std::size_t i = 0; i + 1 < length; ++i) {
    first.next(units[i].first, 0), second.next(units[i].second, 0);
  }
  for (std::size_t i = length - 1; i < units.size(); ++i) {
    const UnitHash leaving = i >= length ? units[i - length] : UnitHash();
    keys.push_back(key_of(first.next(units[i].first, leaving.first),
                          second.next(units[i].second, leaving.second)));
  }
}

}  // namespace lie
