// What can be shown of an expression near one point: its value there, and that it is analytic
// around it.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/scalar/equality.h"

namespace lie::calculus {

using expr::Arena, expr::Expr, scalar::Tri;

/// A name near a value.
struct Place {
  std::string_view x;
  const Expr* value = nullptr;
};

/// e with the name replaced by the value; nullptr where the budget is spent.
const Expr* value_at(const Expr& e, const Place& place, Arena& arena);

/// Whether e is 0, as far as it can be told.
Tri is_zero(const Expr* e, Arena& arena, const VerifierOptions& options);

/// -1, 0, 1 for the sign of a real constant; 2 where it cannot be told.
int sign_of(const Expr* e, Arena& arena, const VerifierOptions& options);

/// Whether e is surely analytic around the place, so that it is continuous and has all derivatives
/// there.
bool is_analytic_at(const Expr& e, const Place& place, Arena& arena,
                    const VerifierOptions& options);

}  // namespace lie::calculus
