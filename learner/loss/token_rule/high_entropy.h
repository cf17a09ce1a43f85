// Only the tokens with the highest entropies are trained on (arXiv:2506.01939, "80/20").
#pragma once

#include <cstddef>
#include <span>

#include "common/config/options.h"
#include "learner/loss/token_rule/token_rule.h"

namespace lie {

struct HighEntropyOptions {
  static constexpr const char* kName = "high_entropy";
  static constexpr bool kReadsEntropies = true;
  double share = 1;  // of the tokens that keep their loss, above 0; 1: off
  bool is_on() const { return share < 1; }
};
void describe(FieldList& fields, HighEntropyOptions& options);

/// Throws Error for a share of 0.
void check_options(const HighEntropyOptions& options);

/// Removes the surrogate loss of all tokens but the `share` with the highest entropies. Returns how
/// many keep it. As in the paper, the others still count in the denominator.
std::size_t apply(const HighEntropyOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms);

}  // namespace lie
