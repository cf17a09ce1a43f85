// Means, shares and bootstrap estimates with their confidence intervals.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lie {

/// A value with its interval. If it has none, low = high = value.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

double mean(std::span<const double> values);

/// Returns the mean of independent values (seeds) with Student's 95 % interval. A single value has
/// no interval.
Estimate mean_interval(std::span<const double> values);

/// Returns a share in [0, 1] of `count` independent trials with Wilson's interval. Without a trial
/// it has no interval.
Estimate wilson(double share, std::int64_t count, double confidence = 0.95);

/// Returns the p quantile of the standard normal distribution for 0 < p < 1, with an absolute error
/// below 1e-9.
double normal_quantile(double p);

/// Options of bootstrap intervals.
struct Bootstrap {
  std::int64_t resamples = 10000;
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// Returns the mean of the strata's means with the percentile interval of the bootstrap over
/// problems. Each stratum holds one value per problem. Each resample draws from every stratum as
/// many problems as it has, with replacement. With one stratum the value is the plain mean. Strata
/// must not be empty.
Estimate bootstrap_mean(std::span<const std::vector<double>> strata, const Bootstrap& how);

}  // namespace lie
