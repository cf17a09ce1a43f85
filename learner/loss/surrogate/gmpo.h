// GMPO (arXiv:2507.20673): the geometric mean of a response's token ratios, each of which is
// clipped before.
#pragma once

#include <array>
#include <span>
#include <string>

#include "common/config/options.h"
#include "learner/loss/surrogate/surrogate.h"

namespace lie {

struct GmpoOptions {
  static constexpr const char* kName = "gmpo";
  static constexpr const char* kAbout =
      "the geometric mean of the response's token ratios, whose logarithms are clipped to "
      "-gmpo.low to gmpo.high";
  static constexpr std::array kShortForms = {ShortForm{"gmpo", {RatioLevel::kSequence}}};
  static constexpr RatioLevel kOnlyLevel = RatioLevel::kSequence;

  double low = 0.4, high = 0.4;  // bounds of a token's log-ratio on both sides of 0, at least 0
};

void describe(FieldList& fields, GmpoOptions& options);
Surrogate surrogate(const GmpoOptions& options, const Formulation& formulation);

/// Returns a warning if the settings differ from those of the paper, else an empty text.
std::string departure(const GmpoOptions& options, const Formulation& formulation);

/// Sets the losses [T] of a response with these log-ratios [T] and advantage. m_t is min(d_t, high)
/// for A > 0 and max(d_t, -low) for A < 0. Each token has the loss -A exp(mean_t m_t) and, within
/// its bound, this slope. As for sequence ratios, a mean above 10 counts as 10 and has no gradient.
void gmpo_losses(std::span<const double> log_ratios, double advantage, const GmpoOptions& options,
                 std::span<TokenLoss> losses);

}  // namespace lie
