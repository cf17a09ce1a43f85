// Spellings of which the parser knows one, told apart by the tokens around them.
#pragma once

#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

/// Rewrites the tokens of an answer: "2 to 3" as 2 : 3, the interval ]0, 1[ as (0, 1), 5 (units)
/// without the brackets, the relation signs of aligned equations without their alignment marks, and
/// what stands behind a statement as quantifier.h says.
void respell(Lexed& lexed);

}  // namespace lie::latex
