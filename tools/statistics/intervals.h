// Means and shares with their confidence intervals.
#pragma once

#include <cstddef>
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

/// Returns the positive t within which Student's distribution holds the given share, 0 < share < 1,
/// for at least one degree of freedom.
double student_quantile(double share, std::int64_t degrees);

/// Returns the mean of independent values (seeds) with Student's 95 % interval. A single value has
/// no interval.
Estimate mean_interval(std::span<const double> values);

/// One prompt's part of a weighted mean over responses.
struct PromptShare {
  double weight = 0;           // of its responses; the weights of all prompts add up to 1
  double correct = 0;          // weight of its correct responses
  std::int64_t responses = 0;  // their number
  std::size_t stratum = 0;     // prompts of one kind; the kinds themselves are not drawn
};

/// Returns the share of correct responses with an interval for other prompts of the same kinds.
/// Responses to one prompt are not independent, so the prompt is the unit. The interval is Wilson's
/// with Student's quantile and as many trials as give the variance of the prompts' means within
/// their strata. A quarter of a prompt, half of it correct, is added to the variance of each
/// stratum, in case all responses agree. Without two prompts of one stratum it has no interval.
Estimate share_over_prompts(std::span<const PromptShare> prompts, double confidence = 0.95);

}  // namespace lie
