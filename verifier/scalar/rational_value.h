// Computes the exact values of expressions.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "verifier/exact/rational.h"
#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"

namespace lie::scalar {

/// Evaluates arithmetic, integer powers, factorials, binomials, gcd and the like exactly. Returns
/// nothing if the value is undefined, not rational, or too large for the budget. Sizes are bounded
/// before they are computed.
std::optional<exact::Rational> rational_value(const expr::Expr& e, Budget& budget);

/// Returns the value of a name, or nothing for a name without a rational value.
using ValueOfName = std::function<std::optional<exact::Rational>(std::string_view)>;

/// Evaluates an expression as above, with values for its names.
std::optional<exact::Rational> rational_value(const expr::Expr& e, const ValueOfName& names,
                                              Budget& budget);

/// Returns an expression without names and decimals as a number, if rational_value() finds one,
/// and otherwise the expression itself.
const expr::Expr* folded(const expr::Expr* e, expr::Arena& arena);

}  // namespace lie::scalar
