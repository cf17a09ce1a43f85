// Sets of real numbers: intervals, finite sets, unions, intersections, differences, inequalities,
// set-builders.
#pragma once

#include <optional>

#include "verifier/expr/expr.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

/// Whether an expression describes a set of reals here: an interval, ℝ, a finite set of constants,
/// an inequality in one name, or made of these.
bool is_real_set(const expr::Expr& e);

/// Equality as sets of reals. The line is cut at all the end points that occur; membership is
/// decided at every end point exactly and at drawn points of every piece between. kUnknown where an
/// end point cannot be ordered.
Tri equal_real_sets(const expr::Expr& gold, const expr::Expr& answer, expr::Arena& arena,
                    const VerifierOptions& options);

}  // namespace lie::equal
