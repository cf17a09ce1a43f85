// Proof that two algebraic constants are equal or not.
#pragma once

#include <optional>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"

namespace lie::scalar {

/// Exact equality of two constants built from rationals, i, sums, products, integer powers and
/// roots; nothing where another kind of constant occurs or a degree or coefficient exceeds the
/// limits of exact/algebraic.h.
std::optional<bool> equal_algebraic(const expr::Expr& a, const expr::Expr& b, Budget& budget);

}  // namespace lie::scalar
