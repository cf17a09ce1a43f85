#include "learner/loss/token_rule/geometric_mask.h"

#include <cmath>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, GeometricMaskOptions& options) {
  fields.add("low", options.low,
             {"Responses have no surrogate loss if exp(mean of old - behavior log-prob) is below "
              "this. They still count in the denominator. It requires recompute_old_log_probs. 0: "
              "no bound.",
              "", 0});
  fields.add("high", options.high,
             {"Responses have no surrogate loss if exp(mean of old - behavior log-prob) is above "
              "this. Rounding on a GPU is within 0.999 and 1.001. 0: no bound.",
              "", 0});
}

void check_options(const GeometricMaskOptions& options) {
  if (options.low < 1 && (options.high == 0 || options.high > 1)) return;
  fail(
      "policy_loss.geometric_mask.low and high are {} and {}: responses with equal log-probs of "
      "sampler and learner, whose ratio is 1, would have no loss; set low below 1 and high above 1",
      options.low, options.high);
}

std::size_t apply(const GeometricMaskOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms) {
  std::size_t masked = 0;
  for (std::size_t s = 0; s + 1 < tokens.starts.size(); ++s) {
    const std::size_t first = tokens.starts[s], end = tokens.starts[s + 1];
    double sum = 0;
    for (std::size_t t = first; t < end; ++t) {
      sum += static_cast<double>(tokens.old_log_probs[t]) -
             static_cast<double>(tokens.behavior_log_probs[t]);
    }
    const double ratio = std::exp(sum / static_cast<double>(end - first));
    const bool is_within =
        ratio >= options.low && (options.high == 0 || ratio <= options.high);  // false for NaN
    if (is_within) continue;
    for (TokenTerm& term : terms.subspan(first, end - first)) term.factor = 0;
    masked += end - first;
  }
  return masked;
}

}  // namespace lie
