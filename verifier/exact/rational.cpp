#include "verifier/exact/rational.h"

#include "common/text/scan.h"

namespace lie::exact {
namespace {

// FLINT's fmpz limbs are 64 bits wide on every platform that we build for.
static_assert(sizeof(slong) == sizeof(std::int64_t));

bool set_digits(fmpz_t out, std::string_view digits) {
  if (digits.size() <= 18) {
    slong value = 0;
    for (char c : digits) value = value * 10 + (c - '0');
    fmpz_set_si(out, value);
    return true;
  }
  return fmpz_set_str(out, std::string(digits).c_str(), 10) == 0;
}

}  // namespace

Rational::Rational(std::int64_t numerator, std::int64_t denominator) : Rational() {
  fmpz_t n, d;
  fmpz_init_set_si(n, numerator);
  fmpz_init_set_si(d, denominator);
  fmpq_set_fmpz_frac(value_, n, d);
  fmpz_clear(n);
  fmpz_clear(d);
}

std::int64_t Rational::bits() const {
  return static_cast<std::int64_t>(fmpz_bits(numerator()) + fmpz_bits(denominator()));
}

std::optional<std::int64_t> Rational::small_integer() const {
  if (!is_integer() || fmpz_bits(numerator()) > 62) return std::nullopt;
  return fmpz_get_si(numerator());
}

std::string Rational::text() const {
  char* chars = fmpq_get_str(nullptr, 10, value_);
  std::string out(chars);
  flint_free(chars);
  return out;
}

std::optional<Rational> from_decimal(std::string_view digits) {
  std::string all;
  std::int64_t places = -1;
  for (char c : digits) {
    if (c == '.' && places < 0) {
      places = 0;
    } else if (is_digit(c)) {
      all.push_back(c);
      if (places >= 0) ++places;
    } else {
      return std::nullopt;
    }
  }
  Rational out;
  if (all.empty() || !set_digits(fmpq_numref(out.get()), all)) return std::nullopt;
  return places > 0 ? out * power_of_ten(-places) : out;
}

Rational power_of_ten(std::int64_t exponent) { return power(Rational(10), exponent); }

Rational power(const Rational& base, std::int64_t exponent) {
  Rational out;
  fmpq_pow_si(out.get(), base.get(), exponent);
  return out;
}

Rational round_to_places(const Rational& value, std::int64_t places) {
  const Rational scaled = value * power_of_ten(places);
  Rational floor;
  fmpz_fdiv_q(fmpq_numref(floor.get()), scaled.numerator(), scaled.denominator());
  const Rational rest = scaled - floor;
  const Rational half(1, 2);
  const bool up = half < rest || (rest == half && fmpz_is_odd(floor.numerator()) != 0);
  return (up ? floor + Rational(1) : floor) * power_of_ten(-places);
}

}  // namespace lie::exact
