// Entropy-based advantage (arXiv:2506.14758): tokens of high entropy get a larger advantage, so
// that correct responses with such tokens, which are often longer, are preferred.
#pragma once

#include <cstddef>
#include <span>

#include "common/config/options.h"
#include "learner/loss/token_rule/token_rule.h"

namespace lie {

struct EntropyAdvantageOptions {
  static constexpr const char* kName = "entropy_advantage";
  static constexpr bool kReadsEntropies = true;
  static constexpr bool kChangesAdvantages = true;
  double alpha = 0;  // of the entropy in nats; 0: off
  double kappa = 2;  // the bonus is at most |A| / kappa, so that A keeps its sign; above 1
  bool is_on() const { return alpha > 0; }
};
void describe(FieldList& fields, EntropyAdvantageOptions& options);

/// Throws Error if a bonus could turn the sign of an advantage.
void check_options(const EntropyAdvantageOptions& options);

/// Adds min(alpha H, |A| / kappa) to the advantage of each token. Returns for how many tokens the
/// second bound applies, tokens without an advantage included.
std::size_t apply(const EntropyAdvantageOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms);

}  // namespace lie
