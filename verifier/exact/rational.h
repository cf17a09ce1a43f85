// An exact rational number over FLINT's fmpq, which stores small numbers without an allocation.
#pragma once

#include <flint/fmpq.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lie::exact {

/// A rational in lowest terms with a positive denominator.
class Rational {
 public:
  Rational() { fmpq_init(value_); }
  Rational(std::int64_t numerator, std::int64_t denominator = 1);
  Rational(const Rational& other) : Rational() { fmpq_set(value_, other.value_); }
  Rational(Rational&& other) noexcept : Rational() { fmpq_swap(value_, other.value_); }
  Rational& operator=(Rational other) noexcept {
    fmpq_swap(value_, other.value_);
    return *this;
  }
  ~Rational() { fmpq_clear(value_); }

  const fmpq* get() const { return value_; }
  fmpq* get() { return value_; }
  const fmpz* numerator() const { return fmpq_numref(value_); }
  const fmpz* denominator() const { return fmpq_denref(value_); }

  bool is_zero() const { return fmpq_is_zero(value_) != 0; }
  bool is_integer() const { return fmpz_is_one(fmpq_denref(value_)) != 0; }
  int sign() const { return fmpq_sgn(value_); }
  /// Returns the bits of numerator and denominator together.
  std::int64_t bits() const;
  /// Returns the value if it is an integer of at most 62 bits.
  std::optional<std::int64_t> small_integer() const;
  std::string text() const;

  friend bool operator==(const Rational& a, const Rational& b) {
    return fmpq_equal(a.value_, b.value_) != 0;
  }
  friend bool operator<(const Rational& a, const Rational& b) {
    return fmpq_cmp(a.value_, b.value_) < 0;
  }
  friend Rational operator+(const Rational& a, const Rational& b) { return of(fmpq_add, a, b); }
  friend Rational operator-(const Rational& a, const Rational& b) { return of(fmpq_sub, a, b); }
  friend Rational operator*(const Rational& a, const Rational& b) { return of(fmpq_mul, a, b); }
  /// Requires that b is not zero.
  friend Rational operator/(const Rational& a, const Rational& b) { return of(fmpq_div, a, b); }
  Rational operator-() const { return Rational() - *this; }

 private:
  using Operation = void (*)(fmpq*, const fmpq*, const fmpq*);
  static Rational of(Operation apply, const Rational& a, const Rational& b) {
    Rational out;
    apply(out.value_, a.value_, b.value_);
    return out;
  }

  fmpq_t value_;
};

/// Reads a plain decimal without sign: "12", "0.5", ".5", "12.". Returns nothing for anything else.
std::optional<Rational> from_decimal(std::string_view digits);

/// Returns 10 to a power. The caller bounds |exponent|.
Rational power_of_ten(std::int64_t exponent);

/// Returns the base to an integer power. The caller bounds the size and excludes negative powers of
/// 0.
Rational power(const Rational& base, std::int64_t exponent);

/// Rounds to `places` decimals, ties to even.
Rational round_to_places(const Rational& value, std::int64_t places);

}  // namespace lie::exact
