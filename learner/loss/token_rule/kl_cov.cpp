#include "learner/loss/token_rule/kl_cov.h"

#include <fmt/format.h>

#include <cmath>

namespace lie {

void describe(FieldList& fields, KlCovOptions& options) {
  fields.add(
      "share", options.share,
      {"KL-Cov (arXiv:2505.22617): share of a mini-batch's tokens that are held near the old "
       "policy, those with the largest (A - mean A) (log p - mean log p) under it. The "
       "paper uses 2e-3 for 7B and 2e-4 for 32B models. It has no effect while new and old "
       "log-probs are equal, as in the first mini-batch of a step. 0: off.",
       "", 0, 1});
  fields.add("coefficient", options.coefficient,
             {"KL-Cov: weight of |log p - log p_old| in the loss of these tokens.", "", 0});
}

std::size_t apply(const KlCovOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms) {
  const std::size_t wanted = count_of_share(options.share, terms.size());
  for (const std::size_t t : largest(covariances(tokens, terms), wanted)) {
    terms[t].divergence += options.coefficient;
  }
  return wanted;
}

std::vector<std::string> departures(const KlCovOptions&, const Surrogate& surrogate) {
  constexpr double kWide = 1e3;
  if (surrogate.range_above >= kWide) return {};
  return {fmt::format(
      "policy_loss.kl_cov.share is set, but tokens with a ratio above {} have no gradient: KL-Cov "
      "(arXiv:2505.22617) has no clip; widen the range of the clip to 1 below and 1e9 above",
      1 + surrogate.range_above)};
}

}  // namespace lie
