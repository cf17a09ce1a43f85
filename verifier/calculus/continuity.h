// Properties of an expression near one point: its value there, and whether it is analytic.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/scalar/equality.h"

namespace lie::calculus {

using expr::Arena, expr::Expr, scalar::Tri;

/// A name and the value that it is near.
struct Place {
  std::string_view x;
  const Expr* value = nullptr;
};

/// Returns e with the name replaced by the value, or nullptr where the budget is spent.
const Expr* value_at(const Expr& e, const Place& place, Arena& arena);

/// Decides whether e is 0.
Tri is_zero(const Expr* e, Arena& arena, const VerifierOptions& options);

/// Returns -1, 0 or 1 for the sign of a real constant, and 2 where it is undecided.
int sign_of(const Expr* e, Arena& arena, const VerifierOptions& options);

/// Returns whether e is certainly analytic around the place, so that it is continuous and has all
/// derivatives there.
bool is_analytic_at(const Expr& e, const Place& place, Arena& arena,
                    const VerifierOptions& options);

}  // namespace lie::calculus
