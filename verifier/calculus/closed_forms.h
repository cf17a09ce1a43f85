// Limits, sums and integrals in closed form: limit.cpp, sum.cpp, integral.cpp.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// The limit of e as x goes to `point` (plus or minus infinity included), exactly: an expression
/// without x, or infinity with its sign. nullptr where these rules do not show it, or there is
/// none.
const Expr* limit(const Expr& e, std::string_view x, const Expr& point, Arena& arena,
                  const VerifierOptions& options);

/// The value of a sum (a binder with body, lower and upper bound; the upper one may be infinity),
/// exactly. The rules: polynomials by Bernoulli's formula; polynomial times c^k; c/k^(2n); c^k/k!;
/// rational terms whose poles are simple, rational and whole steps apart. nullptr where none
/// applies or the series diverges.
const Expr* sum_value(const Expr& sum, Arena& arena, const VerifierOptions& options);

/// An antiderivative of e in x: sums of polynomials, powers of lines, 1/(x^2 + a), and polynomials
/// times an exponential, sine or cosine of a line. nullptr where e is made otherwise.
const Expr* antiderivative(const Expr& e, std::string_view x, Arena& arena,
                           const VerifierOptions& options);

/// The value of a definite integral (a binder with body, lower and upper bound, infinite ones
/// included), exactly. nullptr where there is no antiderivative above, or where it may have a pole
/// or a branch between the bounds.
const Expr* integral_value(const Expr& integral, Arena& arena, const VerifierOptions& options);

}  // namespace lie::calculus
