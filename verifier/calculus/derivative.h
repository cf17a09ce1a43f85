// Derivatives by the rules of calculus.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// Whether a name occurs free in an expression.
bool depends(const Expr& e, std::string_view name);

/// de/dx, exact wherever e is differentiable; nullptr where a part has no known derivative (unknown
/// functions, steps, absolute values) or the budget is spent.
const Expr* derivative(const Expr& e, std::string_view x, Arena& arena);

/// The n-th derivative, n from 0 to 8; nullptr as above.
const Expr* derivative(const Expr& e, std::string_view x, std::int64_t order, Arena& arena);

}  // namespace lie::calculus
