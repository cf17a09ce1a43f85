// Decides whether two scalars are the same number or the same function.
#pragma once

#include "verifier/exact/rational.h"
#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"
#include "verifier/rules/options.h"

namespace lie::scalar {

/// An answer to a question. kUnknown: precision and budget do not suffice.
enum class Tri { kNo, kYes, kUnknown };
inline Tri both(Tri a, Tri b) {
  if (a == Tri::kNo || b == Tri::kNo) return Tri::kNo;
  return a == Tri::kYes && b == Tri::kYes ? Tri::kYes : Tri::kUnknown;
}
inline Tri tri(bool value) { return value ? Tri::kYes : Tri::kNo; }

/// Returns whether two numbers are equal under the rule for decimals. `decimal` says that one of
/// the sides was written as a decimal.
bool equal_numbers(const exact::Rational& gold, const exact::Rational& answer, bool decimal,
                   const VerifierOptions& options);

/// Decides equality of two scalars. Decimals follow options.decimals. Numbers are compared as exact
/// rationals, or else by balls of rising precision, which prove a difference. Equality follows from
/// identity modulo a prime (error 2^-60), or from agreement of the balls to half of max_precision
/// bits. With free names, residues at two drawn points prove a difference of rational functions and
/// show equality with error (degree / 2^62)^2. Other functions are compared by balls at drawn
/// points.
Tri equal_scalars(const expr::Expr& gold, const expr::Expr& answer, const VerifierOptions& options,
                  Budget& budget);

/// Decides whether a = c b with a constant c that is not 0, and positive if `positive` is set.
Tri proportional(const expr::Expr& a, const expr::Expr& b, bool positive, Budget& budget);

/// Returns -1, 0 or 1 for a < b, a = b, a > b, if both are real constants or infinite. Returns 2
/// if the order cannot be determined.
int compare_reals(const expr::Expr& a, const expr::Expr& b, const VerifierOptions& options,
                  Budget& budget);

}  // namespace lie::scalar
