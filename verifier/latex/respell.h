// Rewrites alternative spellings, which the tokens around them tell apart, to the one that is
// parsed.
#pragma once

#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

/// Rewrites the tokens of an answer: "2 to 3" as 2 : 3, the interval ]0, 1[ as (0, 1), and 5
/// (units) without brackets. Removes the alignment marks of equations, and applies quantifier.h.
void respell(Lexed& lexed);

}  // namespace lie::latex
