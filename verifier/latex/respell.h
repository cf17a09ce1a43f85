// Rewrites alternative spellings, which the tokens around them tell apart, to the one that is
// parsed.
#pragma once

#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

/// Rewrites the tokens of an answer: the interval ]0, 1[ as (0, 1), and 3x10^8 as a product.
/// Removes Removes universal quantifiers, and separates the declarations of integers.
void respell(Lexed& lexed);

}  // namespace lie::latex
