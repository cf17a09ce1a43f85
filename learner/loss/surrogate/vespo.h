// VESPO (arXiv:2602.10693): a policy gradient with a weight that is a smooth function of the
// response's importance ratio, the product over its tokens.
#pragma once

#include <array>
#include <string>

#include "common/config/options.h"
#include "learner/loss/surrogate/surrogate.h"

namespace lie {

struct VespoOptions {
  static constexpr const char* kName = "vespo";
  static constexpr const char* kAbout =
      "the log-prob, weighted by W^k exp(lambda (1 - W)) of the product W of the response's ratios";
  static constexpr std::array kShortForms = {ShortForm{"vespo", {RatioLevel::kToken}}};
  static constexpr RatioLevel kOnlyLevel = RatioLevel::kToken;

  double k_positive = 2, lambda_positive = 3;  // exponent and decay for A >= 0, at least 0
  double k_negative = 3, lambda_negative = 2;  // for A < 0
};

void describe(FieldList& fields, VespoOptions& options);

/// TIS weights are factors of W and not of the loss.
Surrogate surrogate(const VespoOptions& options, const Formulation& formulation);

/// Returns a warning if the settings differ from those of the paper, else an empty text.
std::string departure(const VespoOptions& options, const Formulation& formulation);

/// Returns W^k exp(lambda (1 - W)), which is 1 at W = 1, from log W, limited to log 1e-8 and 20.
double vespo_weight(double log_w, double k, double lambda);

}  // namespace lie
