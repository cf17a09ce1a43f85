// DPPO with the binary total variation (arXiv:2602.04879): a policy gradient with importance
// weights, without the tokens whose probability has moved too far.
#pragma once

#include <array>
#include <string>

#include "common/config/options.h"
#include "learner/loss/surrogate/surrogate.h"

namespace lie {

struct DppoOptions {
  static constexpr const char* kName = "dppo";
  static constexpr const char* kAbout =
      "as cispo with dppo.ceiling, without the tokens whose probability has risen by more than "
      "dppo.high, or fallen by more than dppo.low, in the direction of their advantage";
  static constexpr std::array kShortForms = {ShortForm{"dppo", {RatioLevel::kToken}}};
  static constexpr RatioLevel kOnlyLevel = RatioLevel::kToken;

  double low = 0.15, high = 0.15;  // largest fall and rise of a token's probability, 0 to 1
  double ceiling = 10000;          // largest importance weight, at least 1
};

void describe(FieldList& fields, DppoOptions& options);
Surrogate surrogate(const DppoOptions& options, const Formulation& formulation);

/// Returns a warning if the settings differ from those of the paper, else an empty text.
std::string departure(const DppoOptions& options, const Formulation& formulation);

/// Returns -min(r, ceiling) A log_prob, whose slope counts the first factor as a constant, or 0 for
/// a token beyond its bound.
TokenLoss dppo_loss(Ratio ratio, double log_prob, double old_log_prob, double advantage,
                    const DppoOptions& options);

}  // namespace lie
