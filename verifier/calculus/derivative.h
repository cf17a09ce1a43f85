// Computes derivatives by the rules of calculus.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// Returns whether a name occurs free in an expression.
bool depends(const Expr& e, std::string_view name);

/// Returns de/dx, which is exact wherever e is differentiable. Returns nullptr where a part has no
/// known derivative (unknown functions, steps, absolute values), or where the budget is spent.
const Expr* derivative(const Expr& e, std::string_view x, Arena& arena);

/// Returns the n-th derivative for n from 0 to 8, or nullptr as above.
const Expr* derivative(const Expr& e, std::string_view x, std::int64_t order, Arena& arena);

}  // namespace lie::calculus
