// Finite sums in closed form.
#pragma once

#include "verifier/expr/expr.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// Returns the value of a finite sum (a binder with body, lower and upper bound), exactly, by
/// Bernoulli's formula. Returns nullptr where the body is no polynomial.
const Expr* sum_value(const Expr& sum, Arena& arena);

}  // namespace lie::calculus
