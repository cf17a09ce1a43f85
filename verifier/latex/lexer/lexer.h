// Splits LaTeX or plain mathematics into tokens in one pass.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/latex/lexer/token.h"
#include "verifier/rules/budget.h"

namespace lie::latex {

/// The tokens of a text. Names point into the text, the tables, or `names`.
struct Lexed {
  std::vector<Token> tokens;  // ends with kEnd
  std::vector<exact::Rational> numbers;
  std::deque<std::string> names;
};

/// Splits a text into tokens, and brings alternative spellings to one. Never fails: unknown input
/// becomes Tok::kBad with its position. Spends one step of the budget per token.
Lexed lex(std::string_view text, Budget& budget);

}  // namespace lie::latex
