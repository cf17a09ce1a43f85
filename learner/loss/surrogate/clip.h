// The clipped surrogate of PPO (arXiv:1707.06347), with token ratios (GRPO, arXiv:2402.03300) or
// sequence ratios (GSPO, arXiv:2507.18071), and dual clip (arXiv:1912.09729).
#pragma once

#include <array>
#include <optional>

#include "common/config/options.h"
#include "learner/loss/surrogate/surrogate.h"

namespace lie {

struct ClipOptions {
  static constexpr const char* kName = "clip";
  static constexpr const char* kAbout =
      "the ratio is clipped to 1 - clip_low to 1 + clip_high; sequence ratios require aggregation "
      "sequence-mean-token-mean";
  static constexpr std::array kShortForms = {ShortForm{"grpo", RatioLevel::kToken},
                                             ShortForm{"gspo", RatioLevel::kSequence}};
  static constexpr bool kHasSection = false;  // the keys are policy_loss.clip_low, ...

  /// The bounds below and above the ratio 1. clip_low is 0 to 1, clip_high at least 0. An unset
  /// bound is 0.2 for token ratios, and 3e-4 below and 4e-4 above for sequence ratios.
  std::optional<double> clip_low = {}, clip_high = {};
  double dual_clip = 0;  // c of dual clip, above 1; 0: off
};

void describe(FieldList& fields, ClipOptions& options);

/// Throws Error if dual_clip would remove the gradient of tokens within the clip range.
void check_options(const ClipOptions& options);

/// Sequence ratios are defined with the sequence mean only.
Surrogate surrogate(const ClipOptions& options, RatioLevel level);

/// Returns max(-A r, -A clip(r, 1 - low, 1 + high)), and with dual clip, if A < 0, at most -A c.
TokenLoss clipped_loss(Ratio ratio, double advantage, double low, double high, double dual_clip);

}  // namespace lie
