// CISPO (arXiv:2506.13585, section 3.1): a policy gradient with importance weights that are
// truncated above, through which no gradient flows.
#pragma once

#include <array>
#include <string>

#include "common/config/options.h"
#include "learner/loss/surrogate/surrogate.h"

namespace lie {

struct CispoOptions {
  static constexpr const char* kName = "cispo";
  static constexpr const char* kAbout =
      "the log-prob, weighted by the ratio up to cispo.ceiling; no token loses its gradient";
  static constexpr std::array kShortForms = {ShortForm{"cispo", {RatioLevel::kToken}}};
  static constexpr RatioLevel kOnlyLevel = RatioLevel::kToken;

  double ceiling = 5;  // largest importance weight, at least 1
};

void describe(FieldList& fields, CispoOptions& options);

/// The ratio has no lower bound, as in the paper.
Surrogate surrogate(const CispoOptions& options, const Formulation& formulation);

/// Returns a warning if the settings differ from those of the paper, else an empty text.
std::string departure(const CispoOptions& options, const Formulation& formulation);

/// Returns -min(r, ceiling) A log_prob, whose slope counts the first factor as a constant.
TokenLoss cispo_loss(Ratio ratio, double log_prob, double advantage, double ceiling);

}  // namespace lie
