// The form in which answers are compared: chains shortened, signs expanded, names attached to every
// value.
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::equal {

/// An answer ready for comparison at its top level; its parts are prepared when they are compared.
/// nullptr where the budget is spent.
const expr::Expr* prepare(const expr::Expr* e, expr::Arena& arena, const VerifierOptions& options);

}  // namespace lie::equal
