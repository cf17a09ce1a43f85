// Means, shares and bootstrap estimates with their confidence intervals.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

namespace lie {

/// A value with its interval. If it has none, low = high = value.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Estimate, value, low, high)  // {"value": 0.5, ...}

double mean(std::span<const double> values);

/// Returns the positive t within which Student's distribution holds the given share, 0 < share < 1,
/// for at least one degree of freedom.
double student_quantile(double share, std::int64_t degrees);

/// Returns the mean of independent values (seeds) with Student's 95 % interval. A single value has
/// no interval.
Estimate mean_interval(std::span<const double> values);

/// Returns a share in [0, 1] of `count` independent trials with Wilson's interval. Without a trial
/// it has no interval.
Estimate wilson(double share, std::int64_t count, double confidence = 0.95);

/// One prompt's part of a weighted mean over responses.
struct PromptShare {
  double weight = 0;           // of its responses; the weights of all prompts add up to 1
  double correct = 0;          // weight of its correct responses
  std::int64_t responses = 0;  // their number
};

/// Returns the share of correct responses with a 95 % interval for other prompts of the same kind.
/// Responses to one prompt are not independent, so the prompt is the unit. The interval is Wilson's
/// with Student's quantile and as many trials as give the variance of the prompts' means. A quarter
/// of a prompt, half of it correct, is added to that variance, in case all responses agree. Fewer
/// than two prompts have no interval.
Estimate share_over_prompts(std::span<const PromptShare> prompts);

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
