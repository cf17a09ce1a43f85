// The rule for decimals.
#pragma once

#include "verifier/exact/rational.h"
#include "verifier/rules/options.h"

namespace lie::scalar {

/// Returns whether two numbers are equal under the rule for decimals. `decimal` says that one of
/// the sides was written as a decimal.
bool equal_numbers(const exact::Rational& gold, const exact::Rational& answer, bool decimal,
                   const VerifierOptions& options);

}  // namespace lie::scalar
