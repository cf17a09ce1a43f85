// Functions of complex balls.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "verifier/expr/expr.h"
#include "verifier/rules/budget.h"
#include "verifier/scalar/ball.h"

namespace lie::scalar {

/// Applies a function to its arguments, of which there is at least one. Returns whether it has a
/// value there, or nothing for a function that is not known.
std::optional<bool> apply_function(expr::Fn fn, std::vector<Ball>& args, std::int64_t precision,
                                   Budget& budget, Ball& out);

}  // namespace lie::scalar
