// The multiplicative length penalty of GR3 (arXiv:2603.10535): the reward of a correct answer is
// divided by a function of its length relative to its group.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term/term.h"

namespace lie {

struct Gr3Options {
  static constexpr const char* kName = "gr3";
  static constexpr const char* kAbout = "relative length (GR3)";
  static constexpr bool kListedIfOn = true;
  bool enabled = false;
  double alpha = 0.33;
};

void describe(FieldList& fields, Gr3Options& options);
RewardTerm reward_term(const Gr3Options& options, std::int64_t max_response_tokens);
inline bool replaces_accuracy(const Gr3Options&) { return true; }

/// Returns 1 / (1 + alpha L / mean L) - 1 for a correct answer of L tokens, where mean L is that of
/// its group, so that with the accuracy the sum is 1 / (1 + alpha L / mean L). 0 for an incorrect
/// one.
float gr3_reward(const Gr3Options& options, bool correct, std::int64_t length, double mean_length);

}  // namespace lie
