// R_acc: 1 for a correct answer.
#pragma once

#include <cstdint>

#include "common/config/options.h"
#include "rewards/term/term.h"

namespace lie {

/// R_acc of arXiv:2602.11748: 1 if the verifier accepts the answer, else 0. It has no options and
/// is always on, also in evaluations.
struct AccuracyRewardOptions {
  static constexpr const char* kName = "accuracy";
  static constexpr const char* kAbout = "R_acc";
};

inline void describe(FieldList&, AccuracyRewardOptions&) {}
RewardTerm reward_term(const AccuracyRewardOptions& options, std::int64_t max_response_tokens);

}  // namespace lie
