// Brings an answer into the form that the rules expect: signs, chains of equations, matrix
// arithmetic.
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::equal {

/// Returns an answer in the form that the rules expect at its top level. Its parts are prepared
/// when they are compared. Returns nullptr if the budget is spent.
const expr::Expr* prepare(const expr::Expr* e, expr::Arena& arena, const VerifierOptions& options);

/// Returns a list such as x = \pm 1, y = 2 as the points (1, 2), (-1, 2), if the other side is a
/// list of points with as many coordinates, and any other answer as it is. Returns nullptr if the
/// arena is full.
const expr::Expr* as_points(const expr::Expr& other, const expr::Expr* list, expr::Arena& arena);

/// Returns the approximate value that prepare() drops from a chain of equations, or nullptr.
const expr::Expr* dropped_approximation(const expr::Expr& e, const VerifierOptions& options);

}  // namespace lie::equal
