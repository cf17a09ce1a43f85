// Limits that follow from continuity, from L'Hospital's rule, or from growth at infinity.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// The limit of e as x goes to `point` (plus or minus infinity included), exactly: an expression
/// without x, or infinity with its sign. nullptr where these rules do not show it, or there is
/// none.
const Expr* limit(const Expr& e, std::string_view x, const Expr& point, Arena& arena,
                  const VerifierOptions& options);

}  // namespace lie::calculus
