#include "learner/loss/surrogate/dppo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lie {
namespace {

constexpr double kDppoBound = 0.15;  // arXiv:2602.04879, with samplers in bfloat16

}  // namespace

void describe(FieldList& fields, DppoOptions& options) {
  fields.add(
      "low", options.low,
      {"DPPO-TV: a token whose probability has fallen by more has no loss if A < 0.", "", 0, 1});
  fields.add(
      "high", options.high,
      {"DPPO-TV: a token whose probability has risen by more has no loss if A > 0.", "", 0, 1});
  fields.add(
      "ceiling", options.ceiling,
      {"DPPO-TV: largest importance weight of a token. The authors' scripts set 10000, which "
       "is hardly a bound.",
       "", 1});
}

TokenLoss dppo_loss(Ratio ratio, double log_prob, double old_log_prob, double advantage,
                    const DppoOptions& options) {
  const double rise = std::exp(log_prob) - std::exp(old_log_prob);
  if (advantage > 0 && rise > options.high) return {0.0, 0.0, Bound::kHigh};
  if (advantage < 0 && rise < -options.low) return {0.0, 0.0, Bound::kLow};
  const double slope = -std::min(ratio.value, options.ceiling) * advantage;
  return {slope * log_prob, slope, Bound::kNone};
}

Surrogate surrogate(const DppoOptions& options, const Formulation&) {
  Surrogate result;
  result.losses = each_token([options](const auto& input, std::size_t t) {
    return dppo_loss(input.ratios[t], static_cast<double>(input.sequence.log_probs[t]),
                     static_cast<double>(input.sequence.old_log_probs[t]), input.sequence.advantage,
                     options);
  });
  result.aggregations = {Aggregation::kTokenMean, Aggregation::kSequenceMean,
                         Aggregation::kConstant};
  result.has_other_bounds = true;
  result.bounds_change_from_sampler = true;
  return result;
}

std::string departure(const DppoOptions& options, const Formulation&) {
  if (options.low == kDppoBound && options.high == kDppoBound) return "";
  return fmt::format(
      "policy_loss.dppo.low and high are {} and {}, but DPPO (arXiv:2602.04879) uses {} for both; "
      "they are differences of probabilities",
      options.low, options.high, kDppoBound);
}

}  // namespace lie
