// What an evaluation estimates from n samples a problem, and how sure it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lie::evaluation {

/// A value in [0, 1] with its interval.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Probability that at least one of k samples is right, unbiased from n samples of which `right`
/// are: 1 - C(n - right, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374, eq. 1). 1 <= k <= n.
double pass_at_k(std::int64_t n, std::int64_t right, std::int64_t k);

/// Share of votes of k that the right answer wins: the n samples are taken in order as floor(n / k)
/// votes of k, the rest is left out. `answer_class` [n]: samples with the same number gave the same
/// answer, -1 gave none and does not vote; `right` [n]. Of classes with equally many votes each
/// counts for its share.
double majority_at_k(std::span<const std::int32_t> answer_class, std::span<const char> right,
                     std::int64_t k);

/// Wilson's interval of a share of `count` independent trials.
Estimate wilson(double share, std::int64_t count, double confidence);

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

}  // namespace lie::evaluation
