// Cuts LaTeX or plain mathematics into tokens in one pass.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/latex/lexer/token.h"
#include "verifier/rules/budget.h"

namespace lie::latex {

/// What the lexer made of a text. Names point into the text, the tables, or `names`.
struct Lexed {
  std::vector<Token> tokens;  // ends with kEnd
  std::vector<exact::Rational> numbers;
  std::deque<std::string> names;
};

/// Never fails: what it does not know becomes Tok::kBad with its position. One step of the budget a
/// token.
Lexed lex(std::string_view text, Budget& budget);

}  // namespace lie::latex
