// Decides equality of two parsed answers under the table of rules.
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

/// Decides whether `answer` is correct, given `gold`. Not symmetric: see VerifierOptions.
Tri compare(const expr::Expr* gold, const expr::Expr* answer, expr::Arena& arena,
            const VerifierOptions& options);

}  // namespace lie::equal
