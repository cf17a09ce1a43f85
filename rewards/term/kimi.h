// The length reward of Kimi k1.5 (arXiv:2501.12599, section 2.3.3): short answers gain relative to
// the longest of their group.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term/term.h"

namespace lie {

struct KimiRewardOptions {
  static constexpr const char* kName = "kimi";
  static constexpr const char* kAbout = "length within the group (Kimi k1.5)";
  static constexpr bool kListedIfOn = true;
  bool enabled = false;
  double weight = 0.4;
};

void describe(FieldList& fields, KimiRewardOptions& options);
RewardTerm reward_term(const KimiRewardOptions& options, std::int64_t max_response_tokens);

/// Returns weight x (0.5 - (L - min) / (max - min)) for a correct answer of L tokens, with the
/// shortest and the longest response of its group, and at most 0 for an incorrect one. 0 if all are
/// equally long.
float kimi_reward(const KimiRewardOptions& options, bool correct, std::int64_t length,
                  std::int64_t shortest, std::int64_t longest);

}  // namespace lie
