// Division that rounds up, a maximum that keeps NaN, and the arithmetic mean.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

namespace lie {

/// Returns `whole` / `part`, rounded up. Requires `whole` >= 0 and `part` >= 1.
inline std::int64_t divided_up(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}

/// Returns the larger number, or NaN if one is NaN. std::max would drop it.
inline double larger(double a, double b) { return a > b || std::isnan(a) ? a : b; }

/// Returns the mean of values, added in their order; NaN if there are none.
inline double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace lie
