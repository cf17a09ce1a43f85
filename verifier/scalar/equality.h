// Whether two scalars are the same number or the same function.
#pragma once

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"
#include "verifier/rules/options.h"

namespace lie::scalar {

/// kUnknown: it cannot be told within precision and budget.
enum class Tri { kNo, kYes, kUnknown };
inline Tri both(Tri a, Tri b) {
  if (a == Tri::kNo || b == Tri::kNo) return Tri::kNo;
  return a == Tri::kYes && b == Tri::kYes ? Tri::kYes : Tri::kUnknown;
}
inline Tri tri(bool value) { return value ? Tri::kYes : Tri::kNo; }

/// Equality of two scalars. Numbers: exact rationals; else balls of rising precision, which prove a
/// difference; identity modulo a prime (right up to 2^-60), algebraic numbers (a proof either way),
/// or agreement of the balls to half of max_precision bits. With free names: residues at two drawn
/// points, which prove a difference of rational functions and show equality up to (degree /
/// 2^62)^2; else balls at drawn points. Decimals by options.decimals.
Tri equal_scalars(const expr::Expr& gold, const expr::Expr& answer, const VerifierOptions& options,
                  Budget& budget);

/// Whether a = c b with a constant c: > 0 where `positive` asks for it, else any but 0.
Tri proportional(const expr::Expr& a, const expr::Expr& b, bool positive, Budget& budget);

/// Whether a - b depends on no name.
Tri equal_up_to_constant(const expr::Expr& a, const expr::Expr& b, Budget& budget);

/// -1, 0 or 1 as a < b, a = b, a > b for real constants, infinities included; 2 where it cannot be
/// told.
int compare_reals(const expr::Expr& a, const expr::Expr& b, const VerifierOptions& options,
                  Budget& budget);

}  // namespace lie::scalar
