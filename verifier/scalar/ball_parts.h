// Parts of the ball evaluator: known functions (ball_functions.cpp) and series (ball_series.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "verifier/scalar/ball.h"

namespace lie::scalar {

/// Applies a function to its arguments, of which there is at least one. Returns whether it has a
/// value there, or nothing for a function that is not known.
std::optional<bool> apply_function(expr::Fn fn, std::vector<Ball>& args, std::int64_t precision,
                                   Budget& budget, Ball& out);

/// Evaluates a term of a series by its index from 0 at kSeriesPrecision bits.
using Term = std::function<bool(std::int64_t index, Ball& out)>;
constexpr std::int64_t kSeriesPrecision = 700;

/// Estimates a series. Returns false where it does not converge soon.
bool sum_series(const Term& term, Ball& out);

}  // namespace lie::scalar
