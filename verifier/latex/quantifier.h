// "... for every real t" and "..., where k is an integer" behind a statement.
#pragma once

#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

/// Cuts off a universal quantifier over the reals, or over nothing that it names, at the end of an
/// answer with a relation sign: it says what such a statement means without it. One over anything
/// else ("for all x > 0", "for every integer n") stays.
void drop_trailing_quantifier(Lexed& lexed);

/// The integer parameter that an answer ends with, however it is introduced, as one more part of
/// the list: "2k\pi (k \in \mathbb{Z})" and "2k\pi \text{ where } k \text{ is an integer}" become
/// "2k\pi, k \in \mathbb{Z}".
void separate_declaration(Lexed& lexed);

}  // namespace lie::latex
