// Upright text after a value that is mathematics: R, mv^2, ln 2.
#pragma once

#include <string_view>

namespace lie::latex {

/// Returns whether upright text after a value is a name or formula, and neither a unit nor words:
/// R, ab, mv^2, \pi, ln 2.
bool is_formula(std::string_view text);

}  // namespace lie::latex
