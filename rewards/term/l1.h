// The length-controlled rewards of L1 (arXiv:2503.04697, equations 1 and 2), with one target for
// all prompts.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term/term.h"

namespace lie {

/// Exact rewards the distance from the target, max a length of at most about the target.
enum class L1Form : std::uint8_t { kExact, kMax };

struct L1RewardOptions {
  static constexpr const char* kName = "l1";
  static constexpr const char* kAbout = "length controlled by a target (L1)";
  static constexpr bool kListedIfOn = true;
  bool enabled = false;
  L1Form form = L1Form::kExact;
  double alpha = 3e-4;
  double offset = 0.5;  // of max at the target
  std::int64_t target_tokens = 1024;
};

void describe(FieldList& fields, L1RewardOptions& options);
RewardTerm reward_term(const L1RewardOptions& options, std::int64_t max_response_tokens);
inline bool replaces_accuracy(const L1RewardOptions& options) {
  return options.form == L1Form::kMax;
}

/// Returns -alpha |target - L| for a response of L tokens; or, with max, clip(alpha (target - L) +
/// offset, 0, 1) - 1 for a correct answer, so that with the accuracy the sum is the clipped value,
/// and 0 for an incorrect one.
float l1_reward(const L1RewardOptions& options, bool correct, std::int64_t length);

}  // namespace lie
