// DAPO's soft penalty for responses close to the response limit.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term/term.h"

namespace lie {

/// Options of the overlong penalty (DAPO, arXiv:2503.14476, eq. 13). Off in the recipe.
struct OverlongPenaltyOptions {
  static constexpr const char* kName = "overlong";
  static constexpr const char* kAbout = "penalty near the length limit";
  bool enabled = false;
  std::int64_t buffer_tokens = 4096;
  double penalty = 1.0;
};

void describe(FieldList& fields, OverlongPenaltyOptions& options);
RewardTerm reward_term(const OverlongPenaltyOptions& options, std::int64_t max_response_tokens);

/// Returns the penalty: 0 up to max_response_tokens - buffer_tokens, then linear to -penalty at
/// max_response_tokens and beyond. `length` includes the end-of-sequence token. Throws Error if the
/// buffer is longer than the limit.
float overlong_penalty(const OverlongPenaltyOptions& options, std::int64_t length,
                       std::int64_t max_response_tokens);

}  // namespace lie
