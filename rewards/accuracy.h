// R_acc: 1 for a right answer.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term.h"

namespace lie {

/// R_acc has no options and is always on, in evaluation too.
struct AccuracyRewardOptions {
  static constexpr const char* kName = "accuracy";
  static constexpr const char* kAbout = "R_acc";
};

inline void describe(FieldList&, AccuracyRewardOptions&) {}
RewardTerm reward_term(const AccuracyRewardOptions& options, std::int64_t max_response_tokens);

/// R_acc of arXiv:2602.11748: 1 if the verifier accepts the answer, else 0.
float accuracy_reward(VerdictCode verdict);

}  // namespace lie
