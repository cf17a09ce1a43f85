// Arithmetic modulo one 62-bit prime, in which -1 has a square root.
#pragma once

#include <cstdint>

#include "verifier/exact/rational.h"

namespace lie::exact {

inline constexpr std::uint64_t kPrime = 4611686018427387817ULL;           // 2^62 - 87, 1 mod 4
inline constexpr std::uint64_t kRootOfMinusOne = 4490822397581186023ULL;  // 5^((p-1)/4)

inline std::uint64_t add_mod(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}
inline std::uint64_t mul_mod(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % kPrime);
}
std::uint64_t pow_mod(std::uint64_t base, std::uint64_t exponent);
/// a must not be 0 modulo the prime.
std::uint64_t invert_mod(std::uint64_t a);
/// The residue of a rational; false where the prime divides its denominator.
bool residue(const Rational& value, std::uint64_t& out);
/// The residue of an integer exponent modulo the prime minus 1.
std::uint64_t exponent_residue(const Rational& integer);

}  // namespace lie::exact
