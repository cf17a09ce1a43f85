#include "verifier/scalar/ball.h"

namespace lie::scalar {

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

exact::Rational Ball::middle(bool imaginary) const {
  const arb_struct* part = imaginary ? acb_imagref(value_) : acb_realref(value_);
  exact::Rational out;
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
