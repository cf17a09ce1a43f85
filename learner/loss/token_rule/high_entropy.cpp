#include "learner/loss/token_rule/high_entropy.h"

#include <vector>

#include "common/base/error.h"

namespace lie {

void describe(FieldList& fields, HighEntropyOptions& options) {
  fields.add("share", options.share,
             {"Share, above 0, of a mini-batch's tokens that have a surrogate loss: those with the "
              "highest "
              "entropies before the step's first update, which costs a forward pass. "
              "arXiv:2506.01939 uses 0.2. The others still count in the denominator. 1: off.",
              "", 0, 1});
}

void check_options(const HighEntropyOptions& options) {
  if (options.share > 0) return;
  fail(
      "policy_loss.high_entropy.share is 0: no token would have a loss; 0.2 is usual, and 1 turns "
      "it off");
}

std::size_t apply(const HighEntropyOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms) {
  const std::vector<double> entropies(tokens.entropies.begin(), tokens.entropies.end());
  const std::size_t wanted = count_of_share(options.share, terms.size());
  std::vector<bool> keeps(terms.size());
  for (const std::size_t t : largest(entropies, wanted)) keeps[t] = true;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (!keeps[t]) terms[t].factor = 0;
  }
  return wanted;
}

}  // namespace lie
