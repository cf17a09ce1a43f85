#include "verifier/exact/modular.h"

namespace lie::exact {

std::uint64_t pow_mod(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t out = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) out = mul_mod(out, base);
    base = mul_mod(base, base);
  }
  return out;
}

std::uint64_t invert_mod(std::uint64_t a) { return pow_mod(a, kPrime - 2); }

bool residue(const Rational& value, std::uint64_t& out) {
  const std::uint64_t top = fmpz_fdiv_ui(value.numerator(), kPrime);
  if (value.is_integer()) {
    out = top;
    return true;
  }
  const std::uint64_t bottom = fmpz_fdiv_ui(value.denominator(), kPrime);
  if (bottom == 0) return false;
  out = mul_mod(top, invert_mod(bottom));
  return true;
}

std::uint64_t exponent_residue(const Rational& integer) {
  return fmpz_fdiv_ui(integer.numerator(), kPrime - 1);
}

}  // namespace lie::exact
