// Expressions read as polynomials in one name.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "verifier/expr/expr.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// The coefficients from the constant term up. They do not depend on the name, and nullptr is 0.
using Polynomial = std::vector<const Expr*>;

/// Returns e as a polynomial in x of degree at most 32, if it is one.
std::optional<Polynomial> polynomial_in(const Expr& e, std::string_view x, Arena& arena);

/// Returns the polynomial as an expression in x.
const Expr* expression(const Polynomial& p, const Expr* x, Arena& arena);

}  // namespace lie::calculus
