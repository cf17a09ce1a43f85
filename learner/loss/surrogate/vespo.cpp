#include "learner/loss/surrogate/vespo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lie {
namespace {

const double kLeastLog = std::log(1e-8);  // as in the authors' code

double log_weight(const SurrogateInput& input) {
  double sum = input.log_correction;
  for (const double d : input.log_ratios) sum += std::clamp(d, -kLogRatioLimit, kLogRatioLimit);
  return sum;
}

}  // namespace

void describe(FieldList& fields, VespoOptions& options) {
  fields.add("k_positive", options.k_positive,
             {"VESPO: exponent of W for advantages of at least 0.", "", 0});
  fields.add("lambda_positive", options.lambda_positive,
             {"VESPO: decay by W for advantages of at least 0.", "", 0});
  fields.add("k_negative", options.k_negative,
             {"VESPO: exponent of W for negative advantages.", "", 0});
  fields.add("lambda_negative", options.lambda_negative,
             {"VESPO: decay by W for negative advantages.", "", 0});
}

double vespo_weight(double log_w, double k, double lambda) {
  if (std::isinf(log_w) && log_w < 0) return 0.0;  // masked by tis_beyond
  const double limited = std::clamp(log_w, kLeastLog, kLogRatioLimit);
  return std::exp(lambda + k * limited - lambda * std::exp(limited));
}

Surrogate surrogate(const VespoOptions& options, const Formulation&) {
  Surrogate result;
  result.losses = [options](const SurrogateInput& input, std::span<TokenLoss> losses) {
    const double advantage = input.sequence.advantage;
    const double weight =
        advantage >= 0
            ? vespo_weight(log_weight(input), options.k_positive, options.lambda_positive)
            : vespo_weight(log_weight(input), options.k_negative, options.lambda_negative);
    for (std::size_t t = 0; t < losses.size(); ++t) {
      const double slope = -weight * advantage;
      losses[t] = {slope * static_cast<double>(input.sequence.log_probs[t]), slope, Bound::kNone};
    }
  };
  result.aggregations = {Aggregation::kTokenMean, Aggregation::kSequenceMean,
                         Aggregation::kConstant};
  result.tis_use = TisUse::kWithin;
  return result;
}

std::string departure(const VespoOptions& options, const Formulation&) {
  const VespoOptions paper;
  if (options.k_positive == paper.k_positive && options.k_negative == paper.k_negative &&
      options.lambda_positive == paper.lambda_positive &&
      options.lambda_negative == paper.lambda_negative) {
    return "";
  }
  return fmt::format(
      "policy_loss.vespo.k_positive, lambda_positive, k_negative and lambda_negative are {}, {}, "
      "{} and {}, but VESPO (arXiv:2602.10693) uses {}, {}, {} and {}",
      options.k_positive, options.lambda_positive, options.k_negative, options.lambda_negative,
      paper.k_positive, paper.lambda_positive, paper.k_negative, paper.lambda_negative);
}

}  // namespace lie
