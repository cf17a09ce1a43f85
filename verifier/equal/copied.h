// Detects answers that only repeat an expression of their prompt.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"

namespace lie::equal {

/// Returns whether an answer that equals the gold occurs in the prompt, still has operations to
/// carry out (99^2 + 1, 5x - 1 = 14, but not \frac12 or 2\pi), and is not written as the gold is,
/// up to the order of terms. A formula that the prompt asks to convert also has work left, such as
/// \frac92 for a decimal or 45^\circ for radians. `tree` is the parsed answer.
bool is_copied(std::string_view gold, std::string_view answer, const expr::Expr* tree,
               std::string_view prompt);

}  // namespace lie::equal
