// Integrals by antiderivatives that are proven to hold between the bounds.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// An antiderivative of e in x: sums of polynomials, powers of lines, 1/(x^2 + a), and polynomials
/// times an exponential, sine or cosine of a line. nullptr where e is made otherwise.
const Expr* antiderivative(const Expr& e, std::string_view x, Arena& arena,
                           const VerifierOptions& options);

/// The value of a definite integral (a binder with body, lower and upper bound, infinite ones
/// included), exactly. nullptr where there is no antiderivative above, or where it may have a pole
/// or a branch between the bounds.
const Expr* integral_value(const Expr& integral, Arena& arena, const VerifierOptions& options);

}  // namespace lie::calculus
