// Evaluation in complex balls: a value with a rigorous error bound, at any precision.
#pragma once

#include <optional>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"
#include "verifier/scalar/point.h"

namespace lie::scalar {

/// A complex number known up to an error.
class Ball {
 public:
  Ball() { acb_init(value_); }
  Ball(const Ball& other) : Ball() { acb_set(value_, other.value_); }
  Ball(Ball&& other) noexcept : Ball() { acb_swap(value_, other.value_); }
  Ball& operator=(const Ball& other);
  Ball& operator=(Ball&& other) noexcept;
  ~Ball() { acb_clear(value_); }

  const acb_struct* get() const { return value_; }
  acb_struct* get() { return value_; }

  bool is_finite() const { return acb_is_finite(value_) != 0; }
  bool contains_zero() const { return acb_contains_zero(value_) != 0; }
  /// Whether the imaginary part may be 0 and is known to 2^-30.
  bool looks_real() const;
  /// Sign of the real part: -1, 1, or 0 where the ball does not tell.
  int real_sign() const;
  /// Whether it lies within 2^exponent of 0.
  bool within(std::int64_t exponent) const;
  /// The middle of the real or imaginary part as a rational.
  exact::Rational middle(bool imaginary) const;

 private:
  acb_t value_;
};

/// a - b at `precision` bits.
Ball difference(const Ball& a, const Ball& b, std::int64_t precision);

/// A value, and whether a part of it is only a stand-in.
struct BallValue {
  Ball ball;
  /// An integral, limit or long sum went in as an unknown function: a difference proves nothing.
  bool unevaluated = false;
  /// Known to some 160 bits only, however high the precision.
  bool integrated = false;
};

/// The value of an expression at a point. Names take the point's values; unknown functions, limits
/// and the like are mapped to a fixed analytic function of their arguments, so that equal arguments
/// give equal values. Nothing where the value is not finite at this precision, is no scalar, or
/// exceeds the budget.
std::optional<BallValue> ball_at(const expr::Expr& e, const Point& point, std::int64_t precision,
                                 Budget& budget);

}  // namespace lie::scalar
