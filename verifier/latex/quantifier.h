// Handles "... for every real t" and "..., where k is an integer" after a statement.
#pragma once

#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

/// Removes a universal quantifier over the reals, or without a domain, at the end of an answer with
/// a relation sign, which means the same without it. Other quantifiers ("for all x > 0", "for every
/// integer n") stay.
void drop_trailing_quantifier(Lexed& lexed);

/// Makes the declaration of an integer parameter at the end of an answer one more part of the list.
/// "2k\pi (k \in \mathbb{Z})" and "2k\pi \text{ where } k \text{ is an integer}" become "2k\pi, k
/// \in \mathbb{Z}".
void separate_declaration(Lexed& lexed);

}  // namespace lie::latex
