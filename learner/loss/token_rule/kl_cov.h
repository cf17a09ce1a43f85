// KL-Cov (arXiv:2505.22617): tokens whose log-prob and advantage covary most, which lower the
// entropy most, are held near the old policy.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "common/config/options.h"
#include "learner/loss/token_rule/token_rule.h"

namespace lie {

struct KlCovOptions {
  static constexpr const char* kName = "kl_cov";
  double share = 0;        // of the tokens; 0: off
  double coefficient = 1;  // of |log_prob - old log_prob|, above 0
  bool is_on() const { return share > 0; }
};
void describe(FieldList& fields, KlCovOptions& options);

/// Throws Error if the selected tokens would not be held.
void check_options(const KlCovOptions& options);

/// Adds coefficient x |l| to the loss of the `share` of tokens with the largest covariances().
/// Returns how many these are.
std::size_t apply(const KlCovOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms);

/// Returns warnings if the surrogate has a clip, which the paper's has not, or if the rule has no
/// effect.
std::vector<std::string> departures(const KlCovOptions& options, const RuleUse& use);

}  // namespace lie
