// Expressions read as polynomials and quotients of polynomials in one name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// Coefficients from the constant term up; they do not depend on the name. nullptr is 0.
using Polynomial = std::vector<const Expr*>;

struct Quotient {
  Polynomial top, bottom;
};

/// e as a polynomial in x of degree at most 32, if it is one.
std::optional<Polynomial> polynomial_in(const Expr& e, std::string_view x, Arena& arena);

/// e as a quotient of such polynomials, not reduced, if it is one.
std::optional<Quotient> quotient_in(const Expr& e, std::string_view x, Arena& arena);

/// The degree once leading coefficients that are 0 are dropped: -1 for the zero polynomial. Nothing
/// where it cannot be told whether a coefficient is 0.
std::optional<int> trim(Polynomial& p, Arena& arena, const VerifierOptions& options);

/// The polynomial as an expression in x.
const Expr* expression(const Polynomial& p, const Expr* x, Arena& arena);

/// Slope and offset of a linear expression a x + b; a is not 0.
struct Line {
  const Expr* slope = nullptr;
  const Expr* offset = nullptr;
};
std::optional<Line> line_in(const Expr& e, std::string_view x, Arena& arena,
                            const VerifierOptions& options);

}  // namespace lie::calculus
