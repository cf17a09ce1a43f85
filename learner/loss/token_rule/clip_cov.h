// Clip-Cov (arXiv:2505.22617): a few of the tokens whose log-prob and advantage covary strongly
// have no gradient, so that the entropy falls more slowly.
#pragma once

#include <cstddef>
#include <span>

#include "common/config/options.h"
#include "learner/loss/token_rule/token_rule.h"

namespace lie {

struct ClipCovOptions {
  static constexpr const char* kName = "clip_cov";
  double share = 0;  // of the tokens, drawn at random; 0: off
  double low = 1;    // bounds of the covariance, both excluded
  double high = 5;
  bool is_on() const { return share > 0; }
};
void describe(FieldList& fields, ClipCovOptions& options);

/// Throws Error if no covariance is between the bounds.
void check_options(const ClipCovOptions& options);

/// Removes the surrogate loss of `share` of all tokens, drawn from those whose covariance is
/// between the bounds, or of all of those if they are fewer. Returns how many these are. The paper
/// draws among tokens that are not clipped; here a draw precedes the forward pass, which decides
/// that.
std::size_t apply(const ClipCovOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms);

}  // namespace lie
