// Proof that two algebraic constants are equal or not.
#pragma once

#include <optional>

#include "verifier/budget.h"
#include "verifier/expr/expr.h"

namespace lie::equal {

/// Exact equality of two constants built from rationals, i, sums, products, integer powers and
/// roots; nothing where another kind of constant occurs or a degree or coefficient exceeds the
/// limits of exact/algebraic.h.
std::optional<bool> equal_algebraic(const expr::Expr& a, const expr::Expr& b, Budget& budget);

}  // namespace lie::equal
