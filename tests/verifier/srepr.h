// Reads sympy's srepr notation, in which the latex2sympy corpus has its expectations, as
// expressions.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"

namespace lie {

/// Returns the tree of an srepr such as "Add(Integer(1), Symbol('x'))", or nullptr where a part is
/// unknown.
const expr::Expr* from_srepr(std::string_view text, expr::Arena& arena);

}  // namespace lie
