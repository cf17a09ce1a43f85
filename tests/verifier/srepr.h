// sympy's srepr notation, as the latex2sympy corpus gives its expectations, read into our
// expression tree.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"

namespace lie {

/// The tree that an srepr spells: "Add(Integer(1), Symbol('x'))"; nullptr where it holds something
/// unknown.
const expr::Expr* from_srepr(std::string_view text, expr::Arena& arena);

}  // namespace lie
