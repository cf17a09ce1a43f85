// The rule for decimals: when a rounded value is the exact one.
#pragma once

#include "verifier/exact/rational.h"
#include "verifier/rules/options.h"

namespace lie::scalar {

/// Numbers under the rule for decimals; `decimal`: one of the sides was written as a decimal.
bool equal_numbers(const exact::Rational& gold, const exact::Rational& answer, bool decimal,
                   const VerifierOptions& options);

}  // namespace lie::scalar
