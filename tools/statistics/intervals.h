// Values and how sure they are: means, shares and bootstrap, with their intervals.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lie {

/// A value with its interval; low = high = value where there is none.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

double mean(std::span<const double> values);

/// Mean of independent values (seeds) with Student's 95 % interval; one value has no interval.
Estimate mean_interval(std::span<const double> values);

/// Wilson's interval of a share in [0, 1] of `count` independent trials; no trial, no interval.
Estimate wilson(double share, std::int64_t count, double confidence = 0.95);

/// Quantile of the standard normal distribution, 0 < p < 1; absolute error below 1e-9.
double normal_quantile(double p);

/// How bootstrap intervals are drawn.
struct Bootstrap {
  std::int64_t resamples = 10000;
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// Mean of strata means, each the mean over its problems, with the percentile interval of the
/// bootstrap over problems: each resample draws from every stratum as many problems as it has, with
/// replacement. One stratum: the plain mean. Empty strata are not allowed.
Estimate bootstrap_mean(std::span<const std::vector<double>> strata, const Bootstrap& how);

}  // namespace lie
