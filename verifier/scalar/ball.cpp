#include "verifier/scalar/ball.h"

#include <array>

namespace lie::scalar {

using exact::Rational;

namespace {

// Returns a hash that is the same on every machine: FNV-1a, then the finaliser of SplitMix64.
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
  if (kind == PointKind::kInteger)
    return exact::Rational(1 + static_cast<std::int64_t>((h >> 20) % 24));
  const exact::Rational magnitude(kUnit / 2 + 2 * fraction, kUnit);
  return kind == PointKind::kMixed && (h & 1) != 0 ? -magnitude : magnitude;
}

bool Ball::looks_real() const {
  const arb_struct* imaginary = acb_imagref(value_);
  return arb_contains_zero(imaginary) != 0 && mag_cmp_2exp_si(arb_radref(imaginary), -30) < 0;
}

int Ball::real_sign() const {
  if (arb_is_positive(acb_realref(value_)) != 0) return 1;
  return arb_is_negative(acb_realref(value_)) != 0 ? -1 : 0;
}

bool Ball::within(std::int64_t exponent) const {
  mag_t size;
  mag_init(size);
  acb_get_mag(size, value_);
  const bool small = mag_cmp_2exp_si(size, exponent) < 0;
  mag_clear(size);
  return small;
}

Rational Ball::middle(bool imaginary) const {
  const arb_struct* part = imaginary ? acb_imagref(value_) : acb_realref(value_);
  Rational out;
  // A rational with such an exponent would be too large.
  if (arf_is_special(arb_midref(part)) != 0 || arf_cmpabs_2exp_si(arb_midref(part), 20000) > 0 ||
      arf_cmpabs_2exp_si(arb_midref(part), -20000) < 0)
    return out;
  arf_get_fmpq(out.get(), arb_midref(part));
  return out;
}

Ball difference(const Ball& a, const Ball& b, std::int64_t precision) {
  Ball out;
  acb_sub(out.get(), a.get(), b.get(), precision);
  return out;
}

}  // namespace lie::scalar
