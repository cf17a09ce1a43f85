// Properties of an expression near one point: its value there, and whether it is analytic.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// A name and the value that it is near.
struct Place {
  std::string_view x;
  const Expr* value = nullptr;
};

/// Returns e with the name replaced by the value, or nullptr where the budget is spent.
const Expr* value_at(const Expr& e, const Place& place, Arena& arena);

/// Returns whether e is certainly analytic around the place, so that it is continuous and has all
/// derivatives there.
bool is_analytic_at(const Expr& e, const Place& place, Arena& arena,
                    const VerifierOptions& options);

}  // namespace lie::calculus
