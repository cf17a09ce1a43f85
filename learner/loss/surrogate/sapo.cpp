#include "learner/loss/surrogate/sapo.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, SapoOptions& options) {
  fields.add(
      "tau_positive", options.tau_positive,
      {"SAPO: temperature, above 0, of the gate for positive advantages. A larger one makes the "
       "gradient fade faster away from ratio 1.",
       "", 0});
  fields.add("tau_negative", options.tau_negative,
             {"SAPO: temperature, above 0, of the gate for other advantages.", "", 0});
}

void check_options(const SapoOptions& options) {
  if (options.tau_positive > 0 && options.tau_negative > 0) return;
  fail(
      "policy_loss.sapo.tau_positive and tau_negative are {} and {}: the loss is divided by them; "
      "set more than 0",
      options.tau_positive, options.tau_negative);
}

TokenLoss sapo_loss(Ratio ratio, double advantage, double tau) {
  const double gate = 1.0 / (1.0 + std::exp(-tau * (ratio.value - 1.0)));
  return {-advantage * 4.0 / tau * gate, -advantage * 4.0 * gate * (1.0 - gate) * ratio.slope,
          Bound::kNone};
}

Surrogate surrogate(const SapoOptions& options, const Formulation&) {
  Surrogate result;
  result.losses = each_token([=](const auto& input, std::size_t t) {
    const double advantage = input.sequence.advantage;
    return sapo_loss(input.ratios[t], advantage,
                     advantage > 0 ? options.tau_positive : options.tau_negative);
  });
  result.aggregations = {Aggregation::kSequenceMean, Aggregation::kTokenMean,
                         Aggregation::kConstant};
  return result;
}

std::string departure(const SapoOptions& options, const Formulation&) {
  if (options.tau_negative >= options.tau_positive) return "";
  return fmt::format(
      "policy_loss.sapo.tau_negative {} is below tau_positive {}, but SAPO (arXiv:2511.20347) has "
      "it above, because gradients of negative advantages are less stable; it uses 1.05 and 1",
      options.tau_negative, options.tau_positive);
}

}  // namespace lie
