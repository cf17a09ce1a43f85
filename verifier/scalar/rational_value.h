// Evaluates expressions that have an exact rational value.
#pragma once

#include <optional>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"

namespace lie::scalar {

/// Evaluates arithmetic, integer powers, factorials, binomials, gcd and the like
/// exactly. Returns nothing where the value is not rational, undefined, or too large for the
/// budget. Sizes are bounded before they are computed.
std::optional<exact::Rational> rational_value(const expr::Expr& e, Budget& budget);

/// Returns an expression without names and decimals as a number, where rational_value() finds one,
/// and otherwise the expression itself.
const expr::Expr* folded(const expr::Expr* e, expr::Arena& arena);

}  // namespace lie::scalar
