// Evaluates expressions in complex balls: values with a rigorous error bound, at any precision.
#pragma once

#if __has_include(<flint/arb.h>)  // FLINT 3 contains Arb
#include <flint/acb.h>
#else
#include <acb.h>
#endif

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "verifier/exact/rational.h"
#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"

namespace lie::scalar {

/// The kind of values that the names have.
enum class PointKind : std::uint8_t {
  kPositive,  // reals in (1/2, 5/2)
  kMixed,     // reals in (-5/2, 5/2), away from 0
  kInteger,   // 1 to 24
  kLarge,     // integers from 30 to 1,000, for functions with steps
  kBelow,     // just below numbers at which functions with steps jump
  kAbove,     // just above them
  kComplex,   // names of complex numbers (is_complex_name) off the real line, others kPositive
};

/// Returns whether a name usually stands for a complex number: z, w, z_1 and the like.
bool is_complex_name(std::string_view name);

/// Assigns values to names.
struct Point {
  PointKind kind = PointKind::kPositive;
  std::uint64_t seed = 0;

  exact::Rational value(std::string_view name) const;
};

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

/// A value, and how far it can be trusted.
struct BallValue {
  Ball ball;
  /// An integral, limit or long sum was replaced by an unknown function, so a difference proves
  /// nothing.
  bool unevaluated = false;
  /// A series limits the value to about 140 bits at any precision.
  bool estimated = false;
};

/// Returns the value of an expression at a point, whose values the names have. Unknown functions,
/// limits and the like become a fixed analytic function of their arguments, so that equal arguments
/// give equal values. Returns nothing if the value is not finite at this precision, is no
/// scalar, or exceeds the budget.
std::optional<BallValue> ball_at(const expr::Expr& e, const Point& point, std::int64_t precision,
                                 Budget& budget);

// --- parts of the evaluator ---

/// Applies a function to its arguments, of which there is at least one. Returns whether it has a
/// value there, or nothing for a function that is not known.
std::optional<bool> apply_function(expr::Fn fn, std::vector<Ball>& args, std::int64_t precision,
                                   Budget& budget, Ball& out);

/// Evaluates a term of a series by its index from 0 at kSeriesPrecision bits.
using Term = std::function<bool(std::int64_t index, Ball& out)>;
constexpr std::int64_t kSeriesPrecision = 700;

/// Estimates a series. Returns false if it does not converge soon.
bool sum_series(const Term& term, Ball& out);

}  // namespace lie::scalar
