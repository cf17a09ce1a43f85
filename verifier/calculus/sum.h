// Sums in closed form: polynomials over a range, geometric and related series, and telescoping
// sums.
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// The value of a sum (a binder with body, lower and upper bound; the upper one may be infinity),
/// exactly. The rules: polynomials by Bernoulli's formula; polynomial times c^k; c/k^(2n); c^k/k!;
/// rational terms whose poles are simple, rational and whole steps apart. nullptr where none
/// applies or the series diverges.
const Expr* sum_value(const Expr& sum, Arena& arena, const VerifierOptions& options);

}  // namespace lie::calculus
