// Declarations of parameters at the end of an answer, in signs or words.
#pragma once

#include <vector>

#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

/// Brings the declarations at the end of an answer to one form: "(k \in \mathbb{Z})", "where k is
/// an integer" and "for any integer k" become ", k \in \mathbb{Z}". Constants are real. Quantifiers
/// over all reals are removed. Words with another meaning, such as "for all x > 0", stay.
void read_declarations(std::vector<Token>& tokens);

}  // namespace lie::latex
