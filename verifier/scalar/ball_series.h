// Infinite sums of complex balls.
#pragma once

#include <cstdint>
#include <functional>

#include "verifier/scalar/ball.h"

namespace lie::scalar {

/// Evaluates a term of a series by its index from 0 at kSeriesPrecision bits.
using Term = std::function<bool(std::int64_t index, Ball& out)>;
constexpr std::int64_t kSeriesPrecision = 700;

/// Estimates a series. Returns false if it does not converge soon.
bool sum_series(const Term& term, Ball& out);

}  // namespace lie::scalar
