#include "learner/loss/surrogate/cispo.h"

#include <fmt/format.h>

#include <algorithm>

namespace lie {
namespace {

constexpr double kScaleRlCeiling = 5;  // arXiv:2510.13786

}  // namespace

void describe(FieldList& fields, CispoOptions& options) {
  fields.add(
      "ceiling", options.ceiling,
      {"CISPO: largest importance weight of a token, the number itself. A program that takes "
       "epsilon for 1 + epsilon means this number minus 1.",
       "", 1});
}

TokenLoss cispo_loss(Ratio ratio, double log_prob, double advantage, double ceiling) {
  const double slope = -std::min(ratio.value, ceiling) * advantage;
  return {slope * log_prob, slope, Bound::kNone};
}

Surrogate surrogate(const CispoOptions& options, const Formulation&) {
  Surrogate result;
  result.losses = each_token([ceiling = options.ceiling](const auto& input, std::size_t t) {
    const double log_prob = static_cast<double>(input.sequence.log_probs[t]);
    return cispo_loss(input.ratios[t], log_prob, input.sequence.advantage, ceiling);
  });
  result.aggregations = {Aggregation::kTokenMean, Aggregation::kSequenceMean,
                         Aggregation::kConstant};
  return result;
}

std::string departure(const CispoOptions& options, const Formulation&) {
  if (options.ceiling == kScaleRlCeiling) return "";
  return fmt::format(
      "policy_loss.cispo.ceiling is {}, but ScaleRL (arXiv:2510.13786) uses {}: the key is the "
      "largest importance weight itself, not its distance from 1",
      options.ceiling, kScaleRlCeiling);
}

}  // namespace lie
