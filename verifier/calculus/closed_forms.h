// Limits and sums in closed form: limit.cpp, sum.cpp.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// Returns the limit of e as x goes to a finite point, exactly: an expression without x. Returns
/// nullptr where continuity, L'Hospital's rule and u^v = e^(v (u - 1)) near u = 1 do not show it.
const Expr* limit(const Expr& e, std::string_view x, const Expr& point, Arena& arena,
                  const VerifierOptions& options);

/// Returns the value of a finite sum (a binder with body, lower and upper bound), exactly. The body
/// is a polynomial (Bernoulli's formula) or a geometric progression. Returns nullptr for any other
/// body.
const Expr* sum_value(const Expr& sum, Arena& arena, const VerifierOptions& options);

}  // namespace lie::calculus
