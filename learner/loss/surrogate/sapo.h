// SAPO (arXiv:2511.20347): a soft gate in place of the clip. A token's gradient fades with the
// distance of its ratio from 1 and never vanishes.
#pragma once

#include <array>
#include <string>

#include "common/config/options.h"
#include "learner/loss/surrogate/surrogate.h"

namespace lie {

struct SapoOptions {
  static constexpr const char* kName = "sapo";
  static constexpr const char* kAbout =
      "a sigmoid of the ratio around 1, with the temperature sapo.tau_positive or tau_negative";
  static constexpr std::array kShortForms = {ShortForm{"sapo", {RatioLevel::kToken}}};
  static constexpr RatioLevel kOnlyLevel = RatioLevel::kToken;

  double tau_positive = 1.0;   // temperature of the gate for A > 0, above 0
  double tau_negative = 1.05;  // temperature of the gate for A <= 0, above 0
};

void describe(FieldList& fields, SapoOptions& options);

/// Throws Error if a temperature is 0, which divides by 0.
void check_options(const SapoOptions& options);

Surrogate surrogate(const SapoOptions& options, const Formulation& formulation);

/// Returns a warning if the settings differ from those of the paper, else an empty text.
std::string departure(const SapoOptions& options, const Formulation& formulation);

/// Returns -A (4 / tau) sigmoid(tau (r - 1)). Its slope is -A at r = 1.
TokenLoss sapo_loss(Ratio ratio, double advantage, double tau);

}  // namespace lie
