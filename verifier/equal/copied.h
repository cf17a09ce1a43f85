// Detects answers that only repeat an expression of their prompt.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"

namespace lie::equal {

/// An answer or gold: its text, and its parsed tree.
struct Written {
  std::string_view text;
  const expr::Expr* tree = nullptr;
};

/// Returns whether the answer occurs in the prompt, still has operations to carry out (99^2 + 1, 5x
/// - 1 = 14, but not \frac12 or 2\pi), and is not written as the gold is, up to the order of terms.
bool is_copied(const Written& gold, const Written& answer, std::string_view prompt);

}  // namespace lie::equal
