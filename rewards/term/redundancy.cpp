#include "rewards/term/redundancy.h"

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

std::int64_t least_penalized(const RedundancyRewardOptions& options) {
  return options.threshold + (options.strict ? 1 : 0);
}

std::int64_t least_units(const RedundancyRewardOptions& options, std::int64_t ngram) {
  return ngram - 1 + least_penalized(options);
}

float redundancy_reward(const RedundancyRewardOptions& options, std::int64_t largest_repeat) {
  return largest_repeat >= least_penalized(options) ? static_cast<float>(-options.beta) : 0.0F;
}

RewardTerm reward_term(const RedundancyRewardOptions& options, std::int64_t) {
  check_gate(options.gate, options.kName);
  return {.reward = [options](const VerifiedResponse& response) {
    if (!passes(options.gate, response)) return 0.0F;
    return redundancy_reward(options, response.score.coverage.largest_repeat);
  }};
}

}  // namespace lie
