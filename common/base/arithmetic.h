// Division that rounds up, and a maximum that keeps NaN.
#pragma once

#include <cmath>
#include <cstdint>

namespace lie {

/// Returns `whole` / `part`, rounded up. Requires `whole` >= 0 and `part` >= 1.
inline std::int64_t divided_up(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

/// Returns the larger number, or NaN if one is NaN. std::max would drop it.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

}  // namespace lie
