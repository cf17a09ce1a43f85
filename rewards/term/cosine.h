// The cosine reward (arXiv:2502.03373, appendix C.1): a reward by verdict and length.
#pragma once

#include <cstdint>
#include <optional>

#include "common/config/options.h"
#include "rewards/term/term.h"

namespace lie {

/// Options of the cosine reward. The values are TRL's defaults.
struct CosineRewardOptions {
  static constexpr const char* kName = "cosine";
  static constexpr const char* kAbout = "cosine of the length";
  static constexpr bool kListedIfOn = true;
  bool enabled = false;
  double correct_short = 1, correct_long = 0.5;  // rewards at length 0 and at the limit
  double incorrect_short = -1, incorrect_long = -0.5;
  double cut_penalty = 0;                   // 0: cut responses have the reward of their length
  std::optional<double> limit_tokens = {};  // unset: the response limit
};

void describe(FieldList& fields, CosineRewardOptions& options);
RewardTerm reward_term(const CosineRewardOptions& options, std::int64_t max_response_tokens);
inline bool replaces_accuracy(const CosineRewardOptions&) { return true; }

/// Returns long + (short - long) (1 + cos(pi L / limit)) / 2 for L tokens, at most `limit`, with
/// the values of the verdict, minus 1 for a correct answer, so that with the accuracy the sum is
/// the cosine reward. For a cut response, if cut_penalty is set, the sum is -cut_penalty.
float cosine_reward(const CosineRewardOptions& options, bool correct, bool cut, std::int64_t length,
                    double limit);

}  // namespace lie
