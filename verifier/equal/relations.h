// Equations, inequalities and chains of them.
#pragma once

#include <functional>

#include "verifier/expr/expr.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

using Equal = std::function<Tri(const expr::Expr*, const expr::Expr*)>;

/// Equality of two relations: side by side, by `equal`; equations up to a factor, inequalities up
/// to a positive one; chains link by link, forwards or backwards.
Tri equal_relations(const expr::Expr& gold, const expr::Expr& answer, expr::Arena& arena,
                    const Equal& equal);

}  // namespace lie::equal
