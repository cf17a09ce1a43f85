// The clipped surrogate of PPO (arXiv:1707.06347), with token ratios (GRPO, arXiv:2402.03300) or
// sequence ratios (GSPO, arXiv:2507.18071; LUSPO, arXiv:2602.05261), and dual clip
// (arXiv:1912.09729).
#pragma once

#include <array>
#include <optional>
#include <string>

#include "common/config/options.h"
#include "learner/loss/surrogate/surrogate.h"

namespace lie {

struct ClipOptions {
  static constexpr const char* kName = "clip";
  static constexpr const char* kAbout =
      "PPO's clip of the ratio to 1 - clip_low to 1 + clip_high (GRPO, GSPO, LUSPO)";
  static constexpr std::array kShortForms = {
      ShortForm{"grpo", {RatioLevel::kToken}}, ShortForm{"gspo", {RatioLevel::kSequence}},
      ShortForm{"luspo", {RatioLevel::kSequence, Aggregation::kConstant}}};
  static constexpr bool kHasSection = false;  // the keys are policy_loss.clip_low, ...

  /// The bounds below and above the ratio 1. clip_low is 0 to 1, clip_high at least 0. An unset
  /// bound is 0.2 for token ratios. For sequence ratios it is 3e-4 below and 4e-4 above with the
  /// sequence mean, and 2e-3 below and 2.5e-3 above with the constant divisor.
  std::optional<double> clip_low = {}, clip_high = {};
  double dual_clip = 0;  // c of dual clip, above 1; 0: off
};

void describe(FieldList& fields, ClipOptions& options);

/// Throws Error if dual_clip would remove the gradient of tokens within the clip range.
void check_options(const ClipOptions& options);

/// Sequence ratios are defined with the sequence mean (GSPO) and the constant divisor (LUSPO).
Surrogate surrogate(const ClipOptions& options, const Formulation& formulation);

/// Returns a warning if the settings differ from those of the paper, else an empty text.
std::string departure(const ClipOptions& options, const Formulation& formulation);

/// Returns max(-A r, -A clip(r, 1 - low, 1 + high)), and with dual clip, if A < 0, at most -A c.
TokenLoss clipped_loss(Ratio ratio, double advantage, double low, double high, double dual_clip);

}  // namespace lie
