// Responses that the sampler and the learner rate too differently are left out: the geometric mean
// of their tokens' ratios is outside two bounds.
#pragma once

#include <cstddef>
#include <span>

#include "common/config/options.h"
#include "learner/loss/token_rule/token_rule.h"

namespace lie {

struct GeometricMaskOptions {
  static constexpr const char* kName = "geometric_mask";
  static constexpr bool kComparesWithSampler = true;
  double low = 0;  // bounds of exp(mean_t (old - behavior log-prob)); 0: no bound
  double high = 0;
  bool is_on() const { return low > 0 || high > 0; }
};
void describe(FieldList& fields, GeometricMaskOptions& options);

/// Throws Error if a ratio of 1, which needs no correction, would be outside the bounds.
void check_options(const GeometricMaskOptions& options);

/// Removes the surrogate loss of responses outside the bounds. Returns how many tokens these have.
std::size_t apply(const GeometricMaskOptions& options, const MiniBatchTokens& tokens,
                  std::span<TokenTerm> terms);

}  // namespace lie
