// Complex balls: values with a rigorous error bound, at any precision.
#pragma once

#if __has_include(<flint/arb.h>)  // FLINT 3 contains Arb
#include <flint/acb.h>
#else
#include <acb.h>
#endif

#include <cstdint>

#include "verifier/exact/rational.h"

namespace lie::scalar {

/// A complex number with an error bound.
class Ball {
 public:
  Ball() { acb_init(value_); }
  Ball(const Ball& other) : Ball() { acb_set(value_, other.value_); }
  Ball(Ball&& other) noexcept : Ball() { acb_swap(value_, other.value_); }
  Ball& operator=(Ball other) noexcept {
    acb_swap(value_, other.value_);
    return *this;
  }
  ~Ball() { acb_clear(value_); }

  const acb_struct* get() const { return value_; }
  acb_struct* get() { return value_; }

  bool is_finite() const { return acb_is_finite(value_) != 0; }
  bool contains_zero() const { return acb_contains_zero(value_) != 0; }
  /// Returns whether the imaginary part may be 0 and has an error below 2^-30.
  bool looks_real() const;
  /// Returns the sign of the real part: -1, 1, or 0 if it is not determined.
  int real_sign() const;
  /// Returns whether the whole ball is within 2^exponent of 0.
  bool within(std::int64_t exponent) const;
  /// Returns the midpoint of the real or imaginary part as a rational.
  exact::Rational middle(bool imaginary) const;

 private:
  acb_t value_;
};

/// Returns a - b at `precision` bits.
Ball difference(const Ball& a, const Ball& b, std::int64_t precision);

}  // namespace lie::scalar
