#include "rewards/cosine.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lie {

void describe(FieldList& fields, CosineRewardOptions& options) {
  fields.add("enabled", options.enabled,
             {.help = "Cosine reward (arXiv:2502.03373) in place of the accuracy: the term is the "
                      "difference from it. It ignores L_ref."});
  fields.add("correct_short", options.correct_short,
             {.help = "Reward of a correct answer of length 0."});
  fields.add("correct_long", options.correct_long,
             {.help = "Reward of a correct answer at the limit."});
  fields.add("incorrect_short", options.incorrect_short,
             {.help = "Reward of an incorrect answer of length 0."});
  fields.add("incorrect_long", options.incorrect_long,
             {.help = "Reward of an incorrect answer at the limit."});
  fields.add("cut_penalty", options.cut_penalty,
             {.help = "A response that was cut at the response limit has minus this as its reward. "
                      "0: that of its length.",
              .min = 0});
  fields.add("limit_tokens", options.limit_tokens,
             {.help = "Length at which the cosine ends; longer responses count as this long. auto: "
                      "rollout.max_response_tokens.",
              .unit = "tokens",
              .min = 1});
}

float cosine_reward(const CosineRewardOptions& options, bool correct, bool cut, std::int64_t length,
                    double limit) {
  const double accuracy = correct ? 1.0 : 0.0;
  if (cut && options.cut_penalty > 0) return static_cast<float>(-options.cut_penalty - accuracy);
  const double at_zero = correct ? options.correct_short : options.incorrect_short;
  const double at_limit = correct ? options.correct_long : options.incorrect_long;
  const double share = std::min(static_cast<double>(length) / limit, 1.0);
  const double falling = (1.0 + std::cos(std::numbers::pi * share)) / 2.0;
  return static_cast<float>(at_limit + (at_zero - at_limit) * falling - accuracy);
}

RewardTerm reward_term(const CosineRewardOptions& options, std::int64_t max_response_tokens) {
  const double limit = options.limit_tokens.value_or(static_cast<double>(max_response_tokens));
  return {.reward = [=](const VerifiedResponse& response) {
    return cosine_reward(options, response.correct(),
                         response.response.finish == FinishReason::kLength, response.length(),
                         limit);
  }};
}

}  // namespace lie
