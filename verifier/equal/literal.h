// Answers that are one number: the fast path for the most frequent answers, which needs no tree.
#pragma once

#include <optional>
#include <string_view>

#include "verifier/exact/rational.h"
#include "verifier/rules/options.h"

namespace lie::equal {

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
