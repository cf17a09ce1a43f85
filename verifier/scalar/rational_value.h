// The exact rational value of an expression that has one.
#pragma once

#include <optional>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"

namespace lie::scalar {

/// Evaluates arithmetic, integer powers, perfect roots, factorials, binomials, gcd and the like,
/// and sums and products over a range, exactly. Nothing where the value is not rational, undefined,
/// or too large for the budget; sizes are bounded before computing.
std::optional<exact::Rational> rational_value(const expr::Expr& e, Budget& budget);

/// The number that an expression without names and decimals is, where rational_value() finds it. Returns the
/// expression itself otherwise.
const expr::Expr* folded(const expr::Expr* e, expr::Arena& arena);

}  // namespace lie::scalar
