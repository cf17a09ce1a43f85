// Answers in words, and units.
#pragma once

#include <string>
#include <string_view>

#include "verifier/expr/expr.h"
#include "verifier/scalar/equality.h"

namespace lie::equal {

using scalar::Tri;

/// Equality where at least one side is words: the letters of both are compared, so that \text{Even}
/// is Even.
Tri equal_texts(const expr::Expr* gold, const expr::Expr* answer);

/// Whether two units or remarks do not contradict each other: the same, unknown, or two spellings
/// of one unit.
bool units_agree(std::string_view gold, std::string_view answer);

}  // namespace lie::equal
