// Polynomials over the integers or rationals in canonical form, by FLINT's multivariate
// polynomials.
#pragma once

#include <vector>

#include "verifier/expr/expr.h"

namespace lie::expr {

/// The greatest common divisor (or least common multiple) of expressions read as polynomials, in
/// which every part that is no polynomial (pi, a root, a function) counts as one more variable.
/// Over the integers the content counts; where a coefficient is not whole, numbers are units.
/// nullptr where a part is too large (64 terms, degree 32) or no polynomial.
const Expr* polynomial_gcd(const std::vector<const Expr*>& args, bool lcm, Arena& arena);

}  // namespace lie::expr
