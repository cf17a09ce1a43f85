#include "learner/loss/token_rule/kl_cov.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/error.h"

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

void check_options(const KlCovOptions& options) {
  if (options.coefficient > 0) return;
  fail(
      "policy_loss.kl_cov.share is {} and coefficient is 0: the selected tokens would not be held; "
      "set coefficient above 0 (1 is usual), or share to 0",
      options.share);
}

std::size_t apply(const KlCovOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms) {
  const std::size_t wanted = count_of_share(options.share, terms.size());
  for (const std::size_t t : largest(covariances(tokens, terms), wanted)) {
    terms[t].divergence += options.coefficient;
  }
  return wanted;
}

std::vector<std::string> departures(const KlCovOptions&, const RuleUse& use) {
  constexpr const char* kAbout =
      "policy_loss.kl_cov.share is set, but tokens {} have no gradient: KL-Cov (arXiv:2505.22617) "
      "has no clip; {}";
  std::vector<std::string> all;
  if (use.surrogate.has_other_bounds) {
    all.push_back(fmt::format(fmt::runtime(kAbout), "that have moved far",
                              "take a loss with a clip, and widen its range to 1 below and 1e9 "
                              "above"));
  } else if (is_bounded(use.surrogate)) {
    all.push_back(fmt::format(fmt::runtime(kAbout),
                              fmt::format("with a ratio above {}", 1 + use.surrogate.range_above),
                              "widen the range of the clip to 1 below and 1e9 above"));
  }
  if (use.has_equal_log_probs) {
    all.emplace_back(
        "policy_loss.kl_cov has no effect: a step has one update, in which new and old log-probs "
        "are equal; lower update.mini_batch_prompts");
  }
  return all;
}

}  // namespace lie
