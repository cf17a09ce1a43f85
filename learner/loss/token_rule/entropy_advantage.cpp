#include "learner/loss/token_rule/entropy_advantage.h"

#include <cmath>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, EntropyAdvantageOptions& options) {
  fields.add(
      "alpha", options.alpha,
      {"Entropy-based advantage (arXiv:2506.14758): min(alpha H, |A| / kappa) is added to the "
       "advantage A of a token with entropy H before the step's first update, which costs a "
       "forward pass. The paper uses 0.4 with GRPO. 0: off.",
       "", 0});
  fields.add(
      "kappa", options.kappa,
      {"Entropy-based advantage: bounds the bonus, so that an advantage keeps its sign. Above 1.",
       "", 1});
}

void check_options(const EntropyAdvantageOptions& options) {
  if (options.kappa > 1) return;
  fail(
      "policy_loss.entropy_advantage.kappa is {}: a bonus of |A| would turn a negative advantage "
      "into 0; set more than 1, 2 in arXiv:2506.14758",
      options.kappa);
}

std::size_t apply(const EntropyAdvantageOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms) {
  std::size_t bounded = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const double bonus = options.alpha * static_cast<double>(tokens.entropies[t]);
    const double most = std::abs(terms[t].advantage) / options.kappa;
    bounded += bonus > most ? 1 : 0;
    terms[t].advantage += bonus > most ? most : bonus;
  }
  return bounded;
}

}  // namespace lie
