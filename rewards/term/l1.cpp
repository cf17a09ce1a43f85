#include "rewards/term/l1.h"

#include <algorithm>
#include <cmath>

namespace lie {

void describe(FieldList& fields, L1RewardOptions& options) {
  fields.add("enabled", options.enabled,
             {.help = "Length-controlled reward of L1 (arXiv:2503.04697) with one target for all "
                      "prompts. The paper also writes a target into each prompt."});
  fields.add("form", options.form, {{"exact", L1Form::kExact}, {"max", L1Form::kMax}},
             {.help = "exact: every response loses alpha for each token of distance from the "
                      "target. max: the reward of a correct answer is alpha (target - L) + offset, "
                      "clipped to 0 and 1, in place of 1."});
  fields.add("alpha", options.alpha,
             {.help = "Loss for each token. 3e-4 is the paper's, for targets of 100 to 4,000 "
                      "tokens.",
              .min = 0});
  fields.add("offset", options.offset,
             {.help = "Reward of a correct answer of the target's length, in the form max.",
              .min = 0,
              .max = 1});
  fields.add("target_tokens", options.target_tokens,
             {.help = "Target length.", .unit = "tokens", .min = 1});
}

float l1_reward(const L1RewardOptions& options, bool correct, std::int64_t length) {
  const double missing = static_cast<double>(options.target_tokens - length);
  if (options.form == L1Form::kExact) {
    return static_cast<float>(-options.alpha * std::abs(missing));
  }
  if (!correct) return 0.0F;
  return static_cast<float>(std::clamp(options.alpha * missing + options.offset, 0.0, 1.0) - 1.0);
}

RewardTerm reward_term(const L1RewardOptions& options, std::int64_t) {
  return {.reward = [options](const VerifiedResponse& response) {
    return l1_reward(options, response.correct(), response.length());
  }};
}

}  // namespace lie
