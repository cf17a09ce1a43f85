// Evaluates expressions in complex balls at a point.
#pragma once

#include <cstdint>
#include <optional>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"
#include "verifier/scalar/ball.h"
#include "verifier/scalar/point.h"

namespace lie::scalar {

/// A value, and how far it can be trusted.
struct BallValue {
  Ball ball;
  /// An integral, limit or long sum was replaced by an unknown function, so a difference proves
  /// nothing.
  bool unevaluated = false;
  /// A series limits the value to about 140 bits at any precision.
  bool estimated = false;
  /// A negative number was raised to a power that is no whole number and no odd root.
  bool beyond_cut = false;
};

/// Returns the value of an expression at a point, whose values the names have. Unknown functions,
/// limits and the like become a fixed analytic function of their arguments, so that equal arguments
/// give equal values. Returns nothing if the value is not finite at this precision, is no
/// scalar, or exceeds the budget.
std::optional<BallValue> ball_at(const expr::Expr& e, const Point& point, std::int64_t precision,
                                 Budget& budget);

}  // namespace lie::scalar
