// The fast path for the most frequent answers: integers, decimals and fractions, alone or in one
// pair of brackets.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "verifier/exact/rational.h"
#include "verifier/rules/options.h"

namespace lie::equal {

/// An answer that consists of numbers: "-3", "\frac{1}{2}", "1,000", "(1, 2)", "\{1, 2\}", "1, 2".
struct Literal {
  enum class Shape { kNumber, kList, kTuple, kSet } shape = Shape::kNumber;
  std::vector<exact::Rational> numbers;
  bool decimal = false;  // a decimal point was written
};

/// Reads a literal. Returns nothing for text that needs the general parser, such as all text of
/// more than 200 bytes.
std::optional<Literal> read_literal(std::string_view text);

/// Decides equality under the rules for decimals, lists and sets. Returns nothing where the general
/// rules must decide.
std::optional<bool> equal_literals(const Literal& gold, const Literal& answer,
                                   const VerifierOptions& options);

}  // namespace lie::equal
