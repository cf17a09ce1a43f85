// Derivatives, limits, sums and integrals in closed form, wherever one is known for certain.
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::calculus {

using expr::Arena, expr::Expr;

/// e with its binders evaluated from the inside, where derivative(), limit(), sum_value() and
/// integral_value() find a value; the others stay. nullptr where the budget is spent.
const Expr* evaluate(const Expr* e, Arena& arena, const VerifierOptions& options);

/// Whether `answer` is an antiderivative with a constant (F + C) of what `integral` integrates: its
/// derivative tells. kUnknown where `integral` is no integral without bounds.
scalar::Tri is_antiderivative(const Expr& integral, const Expr& answer, Arena& arena,
                              const VerifierOptions& options);

}  // namespace lie::calculus
