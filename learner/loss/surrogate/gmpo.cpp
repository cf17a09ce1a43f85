#include "learner/loss/surrogate/gmpo.h"

#include <fmt/format.h>

#include <vector>

namespace lie {
namespace {

constexpr double kGmpoBound = 0.4;  // arXiv:2507.20673, section 4

Bound bound_of(double log_ratio, double advantage, const GmpoOptions& options) {
  if (advantage > 0 && log_ratio > options.high) return Bound::kHigh;
  if (advantage < 0 && log_ratio < -options.low) return Bound::kLow;
  return Bound::kNone;
}

}  // namespace

void describe(FieldList& fields, GmpoOptions& options) {
  fields.add("low", options.low,
             {"GMPO: a token's log-ratio is at least minus this if A < 0.", "nats", 0});
  fields.add("high", options.high,
             {"GMPO: a token's log-ratio is at most this if A > 0.", "nats", 0});
}

void gmpo_losses(std::span<const double> log_ratios, double advantage, const GmpoOptions& options,
                 std::span<TokenLoss> losses) {
  std::vector<double> clipped;
  for (std::size_t t = 0; t < losses.size(); ++t) {
    losses[t].bound = bound_of(log_ratios[t], advantage, options);
    const bool is_high = losses[t].bound == Bound::kHigh, is_low = losses[t].bound == Bound::kLow;
    clipped.push_back(is_high ? options.high : is_low ? -options.low : log_ratios[t]);
  }
  const Ratio mean = importance_ratios(RatioLevel::kSequence, clipped).front();
  for (TokenLoss& token : losses) {
    token.loss = -advantage * mean.value;
    token.slope = token.bound == Bound::kNone ? -advantage * mean.slope : 0.0;
  }
}

Surrogate surrogate(const GmpoOptions& options, const Formulation&) {
  Surrogate result;
  result.losses = [options](const SurrogateInput& input, std::span<TokenLoss> losses) {
    gmpo_losses(input.log_ratios, input.sequence.advantage, options, losses);
  };
  result.aggregations = {Aggregation::kSequenceMean};
  result.takes_token_advantages = false;
  result.has_other_bounds = true;
  result.tis_use = TisUse::kResponse;
  return result;
}

std::string departure(const GmpoOptions& options, const Formulation&) {
  if (options.low == kGmpoBound && options.high == kGmpoBound) return "";
  return fmt::format(
      "policy_loss.gmpo.low and high are {} and {}, but GMPO (arXiv:2507.20673) uses {} for both; "
      "they are bounds of log-ratios",
      options.low, options.high, kGmpoBound);
}

}  // namespace lie
