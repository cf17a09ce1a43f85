// Sets of real numbers.
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

/// Decides equality as sets of reals. All end points divide the line. Membership is decided exactly
/// at every end point, and at drawn points of every piece between. Returns kUnknown if end
/// points cannot be ordered.
Tri equal_real_sets(const expr::Expr& gold, const expr::Expr& answer, expr::Arena& arena,
                    const VerifierOptions& options);

}  // namespace lie::equal
