// "... for every real t" behind a statement.
#pragma once

#include "verifier/latex/lexer.h"

namespace lie::latex {

/// Cuts off a universal quantifier over the reals, or over nothing that it names, at the end of an
/// answer with a relation sign: it says what such a statement means without it. One over anything
/// else ("for all x > 0", "for every integer n") stays.
void drop_trailing_quantifier(Lexed& lexed);

}  // namespace lie::latex
