// Evaluates derivatives, limits and sums that have a closed form.
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// Returns e with its binders evaluated from the inside, where derivative(), limit() and
/// sum_value() find a value. Other binders stay. Returns nullptr where the budget is spent.
const Expr* evaluate(const Expr* e, Arena& arena, const VerifierOptions& options);

/// Decides whether `answer` is an antiderivative with a constant (F + C) of the integrand, by its
/// derivative. Returns kUnknown where `integral` is no integral without bounds.
scalar::Tri is_antiderivative(const Expr& integral, const Expr& answer, Arena& arena,
                              const VerifierOptions& options);

}  // namespace lie::calculus
