// The larger of two numbers, one of which may be NaN.
#pragma once

#include <cmath>

namespace lie {

/// Returns the larger number, or NaN if one is NaN. std::max would drop it.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

}  // namespace lie
