#include "learner/loss/token_rule/clip_cov.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, ClipCovOptions& options) {
  fields.add("share", options.share,
             {"Clip-Cov (arXiv:2505.22617): share of a mini-batch's tokens that have no gradient, "
              "drawn from those with a covariance between low and high. The paper uses 2e-4. 0: "
              "off.",
              "", 0, 1});
  fields.add(
      "low", options.low,
      {"Clip-Cov: tokens are drawn if (A - mean A) (log p - mean log p) under the old policy "
       "is above this."});
  fields.add("high", options.high, {"Clip-Cov: and if it is below this."});
}

void check_options(const ClipCovOptions& options) {
  if (options.low < options.high) return;
  fail(
      "policy_loss.clip_cov.low {} is not below policy_loss.clip_cov.high {}: no token is between "
      "them; the paper uses 1 and 5",
      options.low, options.high);
}

std::size_t apply(const ClipCovOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms) {
  const std::vector<double> values = covariances(tokens, terms);
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;  // (random bits, position)
  for (std::size_t t = 0; t < values.size(); ++t) {
    if (values[t] <= options.low || values[t] >= options.high) continue;
    RandomKey key = tokens.draws;
    key.index = static_cast<std::uint32_t>(t);
    drawn.emplace_back(random_bits(key), t);
  }
  std::ranges::sort(drawn);
  drawn.resize(std::min(drawn.size(), count_of_share(options.share, terms.size())));
  for (const auto& [bits, t] : drawn) terms[t].factor = 0;
  return drawn.size();
}

}  // namespace lie
