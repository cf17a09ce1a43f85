#include "learner/loss/surrogate/clip.h"

#include <algorithm>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, ClipOptions& options) {
  fields.add(
      "clip_low", options.clip_low,
      {"The importance ratio is clipped below at 1 - clip_low. auto: 0.2 for grpo, 3e-4 for gspo.",
       "", 0, 1});
  fields.add(
      "clip_high", options.clip_high,
      {"The importance ratio is clipped above at 1 + clip_high. auto: 0.2 for grpo, 4e-4 for gspo. "
       "0.28 with grpo is clip-higher (DAPO).",
       "", 0});
  fields.add(
      "dual_clip", options.dual_clip,
      {"Dual clip: for a negative advantage A the token loss is at most -A times this, which "
       "must exceed 1. The published scripts use 10. 0: off.",
       "", 0});
}

void check_options(const ClipOptions& options) {
  if (options.dual_clip > 0 && options.dual_clip <= 1) {
    fail(
        "policy_loss.dual_clip is {}: a value of at most 1 removes the gradient of unclipped "
        "tokens (arXiv:1912.09729 has c > 1); set more than 1, or 0 to turn it off",
        options.dual_clip);
  }
}

TokenLoss clipped_loss(Ratio ratio, double advantage, double low, double high, double dual_clip) {
  TokenLoss result{-advantage * ratio.value, -advantage * ratio.slope, Bound::kNone};
  const double bounded = -advantage * std::clamp(ratio.value, 1.0 - low, 1.0 + high);
  if (bounded > result.loss) {
    result = {bounded, 0.0, advantage > 0 ? Bound::kHigh : Bound::kLow};
  }
  const double most = -advantage * dual_clip;
  if (dual_clip > 0 && advantage < 0 && result.loss > most) result = {most, 0.0, Bound::kDual};
  return result;
}

Surrogate surrogate(const ClipOptions& options, RatioLevel level) {
  const bool of_sequence = level == RatioLevel::kSequence;
  const double low = options.clip_low.value_or(of_sequence ? 3e-4 : 0.2);
  const double high = options.clip_high.value_or(of_sequence ? 4e-4 : 0.2);
  Surrogate result;
  result.losses = each_token([=, dual = options.dual_clip](const auto& input, std::size_t t) {
    return clipped_loss(input.ratios[t], input.sequence.advantage, low, high, dual);
  });
  result.aggregations = {Aggregation::kSequenceMean};
  if (!of_sequence) {
    result.aggregations.insert(result.aggregations.end(),
                               {Aggregation::kTokenMean, Aggregation::kConstant});
  }
  result.range_above = high;
  return result;
}

}  // namespace lie
