#include "learner/loss/surrogate/clip.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"

namespace lie {
namespace {

struct ClipRange {
  double low, high;
  bool operator==(const ClipRange&) const = default;
};

/// Returns whether a response's clipped loss is multiplied by its length.
bool is_luspo(const Formulation& formulation) {
  return formulation.level == RatioLevel::kSequence &&
         formulation.aggregation == Aggregation::kConstant;
}

ClipRange usual_range(const Formulation& formulation) {
  if (formulation.level == RatioLevel::kToken) return {0.2, 0.2};
  return is_luspo(formulation) ? ClipRange{2e-3, 2.5e-3} : ClipRange{3e-4, 4e-4};
}

ClipRange range_of(const ClipOptions& options, const Formulation& formulation) {
  const ClipRange usual = usual_range(formulation);
  return {options.clip_low.value_or(usual.low), options.clip_high.value_or(usual.high)};
}

}  // namespace

void describe(FieldList& fields, ClipOptions& options) {
  fields.add(
      "clip_low", options.clip_low,
      {"The importance ratio is clipped below at 1 - clip_low. auto: 0.2 for grpo, 3e-4 for gspo, "
       "2e-3 for luspo, which gspo with aggregation constant is.",
       "", 0, 1});
  fields.add(
      "clip_high", options.clip_high,
      {"The importance ratio is clipped above at 1 + clip_high. auto: 0.2 for grpo, 4e-4 for gspo, "
       "2.5e-3 for luspo, which gspo with aggregation constant is. 0.28 with grpo is clip-higher "
       "(DAPO).",
       "", 0});
  fields.add("dual_clip", options.dual_clip,
             {"Dual clip, of the surrogate clip: for a negative advantage A the token loss is at "
              "most -A times this, which "
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

Surrogate surrogate(const ClipOptions& options, const Formulation& formulation) {
  const auto [low, high] = range_of(options, formulation);
  Surrogate result;
  result.losses =
      each_token([low, high, dual = options.dual_clip](const auto& input, std::size_t t) {
        return clipped_loss(input.ratios[t], input.sequence.advantage, low, high, dual);
      });
  result.aggregations = {Aggregation::kSequenceMean, Aggregation::kConstant};
  if (formulation.level == RatioLevel::kToken) {
    result.aggregations.push_back(Aggregation::kTokenMean);
  }
  result.range_above = high;
  result.range_below = low;
  return result;
}

std::string departure(const ClipOptions& options, const Formulation& formulation) {
  const ClipRange range = range_of(options, formulation), usual = usual_range(formulation);
  if (!is_luspo(formulation) || range == usual) return "";
  return fmt::format(
      "policy_loss.clip_low and clip_high are {} and {}, but those of LUSPO (arXiv:2602.05261) "
      "are {} and {}",
      range.low, range.high, usual.low, usual.high);
}

}  // namespace lie
