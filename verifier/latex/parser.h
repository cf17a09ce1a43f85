// Parses tokens into an expression tree by recursive descent. Vertical bars may need two attempts.
#pragma once

#include <string>
#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

/// The reason why a text does not parse, and its position.
struct ParseError {
  std::size_t position = 0;  // byte
  std::string reason;
};

/// A parsed answer: the tree, or the error. The budget may be exhausted as well.
struct Parsed {
  const expr::Expr* tree = nullptr;
  ParseError error;
};

/// Parses one answer: an expression, relation, set, tuple, matrix or text, or several separated by
/// commas, semicolons, "and" or "or". The result keeps no view of `text`. With `bare_fractions`,
/// \frac12 is a half. Otherwise numerators and denominators need braces.
Parsed parse(std::string_view text, expr::Arena& arena, bool bare_fractions = true);

}  // namespace lie::latex
