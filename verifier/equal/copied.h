// Whether an answer only repeats an expression of its question.
#pragma once

#include <string_view>

#include "verifier/expr/expr.h"

namespace lie::equal {

/// An answer or gold: its text, and the tree that was read in it.
struct Written {
  std::string_view text;
  const expr::Expr* tree = nullptr;
};

/// Whether the answer stands in the prompt, still has operations to carry out (99^2 + 1, 5x - 1 =
/// 14, not \frac12 or 2\pi), and the gold is not written so itself, up to the order of terms.
bool is_copied(const Written& gold, const Written& answer, std::string_view prompt);

}  // namespace lie::equal
