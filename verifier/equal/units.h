// Units of the parts of an answer.
#pragma once

#include "verifier/expr/expr.h"

namespace lie::equal {

/// Returns whether all units inside two expressions are the same. One side may have none, unless a
/// remark of the other changes its value.
bool units_inside_agree(const expr::Expr& gold, const expr::Expr& answer);

/// Returns the sum of the list "2 hours and 30 minutes", whose second part is less than one unit of
/// the first. Returns nullptr for other lists.
const expr::Expr* joined_quantities(const expr::Expr& list, expr::Arena& arena);

}  // namespace lie::equal
