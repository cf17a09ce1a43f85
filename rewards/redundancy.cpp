#include "rewards/redundancy.h"

namespace lie {

void describe(FieldList& fields, RedundancyRewardOptions& options) {
  fields.add("enabled", options.enabled, {.help = "Penalize responses that repeat an n-gram."});
  fields.add("beta", options.beta,
             {.help = "R_red = -beta if an n-gram occurs at least threshold times.", .min = 0});
  fields.add("threshold", options.threshold,
             {.help = "Theta: occurrences of one n-gram that count as redundant.", .min = 1});
  fields.add(
      "strict", options.strict,
      {.help = "Penalize only from threshold + 1 occurrences on (N > Theta), as in the paper's "
               "text."});
  describe(fields, options.gate);
}

void RedundancyRewardOptions::fit_to_paper() { beta = RedundancyRewardOptions{}.beta; }

float redundancy_reward(const RedundancyRewardOptions& options, std::int64_t largest_repeat) {
  const std::int64_t first_penalized = options.threshold + (options.strict ? 1 : 0);
  return largest_repeat >= first_penalized ? static_cast<float>(-options.beta) : 0.0F;
}

RewardTerm reward_term(const RedundancyRewardOptions& options, std::int64_t) {
  check_gate(options.gate, options.kName);
  return {.reward = [options](const VerifiedResponse& response) {
    if (!passes(options.gate, response)) return 0.0F;
    return redundancy_reward(options, response.score.coverage.largest_repeat);
  }};
}

}  // namespace lie
