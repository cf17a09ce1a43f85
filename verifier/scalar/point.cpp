#include "verifier/scalar/point.h"

#include <array>

namespace lie::scalar {
namespace {

// Returns a hash that is the same on every machine: FNV-1a, then the finalizer of SplitMix64.
std::uint64_t stable_hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t h = 14695981039346656037ULL ^ (seed * 0x9e3779b97f4a7c15ULL);
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

}  // namespace

bool is_complex_name(std::string_view name) {
  const std::string_view letter = name.substr(0, name.find('_'));
  return letter == "z" || letter == "w" || letter == "Z" || letter == "W";
}

bool is_whole_name(std::string_view name) { return name == "k" || name == "m" || name == "n"; }

exact::Rational Point::value(std::string_view name) const {
  const std::uint64_t h = stable_hash(name, seed + 1);
  constexpr std::int64_t kUnit = std::int64_t{1} << 30;
  const auto fraction = static_cast<std::int64_t>(h >> 34);  // 30 bits
  if (kind == PointKind::kLarge)
    return exact::Rational(30 + static_cast<std::int64_t>((h >> 20) % 971));
  if (kind == PointKind::kBelow || kind == PointKind::kAbove) {
    // Multiples of 12, and eight successive seeds their distances to jumps of 2x, x/3 and the like.
    static constexpr std::array<int, 8> kTwelfths = {0, 12, 24, 36, 6, 4, 8, 3};
    const exact::Rational jump(144 * static_cast<std::int64_t>((h >> 20) % 80 + 3) +
                                   kTwelfths[(seed + stable_hash(name, 0)) % kTwelfths.size()],
                               12);
    const exact::Rational gap = exact::power(exact::Rational(2), -90);
    return kind == PointKind::kBelow ? jump - gap : jump + gap;
  }
  if (kind == PointKind::kCovering) {
    static constexpr std::array<std::uint64_t, 3> kStrides = {1, 7, 11};  // coprime to 60
    const std::uint64_t start = stable_hash(name, 0);
    const std::uint64_t stride = kStrides[start % kStrides.size()];
    return exact::Rational(1 + static_cast<std::int64_t>((start % 60 + stride * seed) % 60));
  }
  if (kind == PointKind::kInteger)
    return exact::Rational(1 + static_cast<std::int64_t>((h >> 20) % 24));
  if (kind == PointKind::kWide) {
    static constexpr std::array<std::int64_t, 8> kSizes = {3, 7, 15, 35, 80, 180, 400, 1000};
    const std::uint64_t start = stable_hash(name, 0);
    const std::uint64_t stride = 2 * (start >> 4 & 3) + 1;  // coprime to 16
    const std::uint64_t at = (start + stride * seed) % (2 * kSizes.size());
    const exact::Rational size(kSizes[at / 2] * (kUnit + fraction / 2), kUnit);
    return at % 2 == 0 ? size : -size;
  }
  const exact::Rational magnitude(kUnit / 2 + 2 * fraction, kUnit);
  return kind == PointKind::kMixed && (h & 1) != 0 ? -magnitude : magnitude;
}

}  // namespace lie::scalar
