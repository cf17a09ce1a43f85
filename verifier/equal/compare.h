// Decides equality of two parsed answers under the table of rules, and detects copies of the
// prompt.
#pragma once

#include <optional>
#include <string_view>

#include "verifier/exact/rational.h"
#include "verifier/expr/expr.h"
#include "verifier/rules/options.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

/// Decides whether `answer` is correct, given `gold`. Not symmetric: see VerifierOptions.
Tri compare(const expr::Expr* gold, const expr::Expr* answer, expr::Arena& arena,
            const VerifierOptions& options);

/// Returns whether an answer that equals the gold occurs in the prompt, still has operations to
/// carry out (99^2 + 1, 5x - 1 = 14, but not \frac12 or 2\pi), and is not written as the gold is,
/// up to the order of terms. A formula that the prompt asks to convert also has work left, such as
/// \frac92 for a decimal or 45^\circ for radians. `tree` is the parsed answer.
bool is_copied(std::string_view gold, std::string_view answer, const expr::Expr* tree,
               std::string_view prompt);

/// An answer that is one number: "-3", "0.5", "3/4", "\frac{1}{2}".
struct Literal {
  exact::Rational value;
  bool decimal = false;  // a decimal point was written
};

/// Reads a literal. Returns nothing for text that needs the general parser, such as all text of
/// more than 200 bytes.
std::optional<Literal> read_literal(std::string_view text);

/// Decides equality under the rule for decimals, which is not half_ulp.
bool equal_literals(const Literal& gold, const Literal& answer, const VerifierOptions& options);

}  // namespace lie::equal
