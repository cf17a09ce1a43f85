// Expressions read as polynomials in one name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// The coefficients from the constant term up. They do not depend on the name, and nullptr is 0.
using Polynomial = std::vector<const Expr*>;

/// Returns e as a polynomial in x of degree at most 32, if it is one.
std::optional<Polynomial> polynomial_in(const Expr& e, std::string_view x, Arena& arena);

/// Drops leading coefficients that are 0 and returns the degree, which is -1 for the zero
/// polynomial. Returns nothing where it is undecided whether a coefficient is 0.
std::optional<int> trim(Polynomial& p, Arena& arena, const VerifierOptions& options);

/// Returns the polynomial as an expression in x.
const Expr* expression(const Polynomial& p, const Expr* x, Arena& arena);

/// The slope a and offset b of a linear expression a x + b with a not 0.
struct Line {
  const Expr* slope = nullptr;
  const Expr* offset = nullptr;
};
std::optional<Line> line_in(const Expr& e, std::string_view x, Arena& arena,
                            const VerifierOptions& options);

}  // namespace lie::calculus
