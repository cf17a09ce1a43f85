#include "rewards/gr3.h"

namespace lie {

void describe(FieldList& fields, Gr3Options& options) {
  fields.add(
      "enabled", options.enabled,
      {.help = "GR3 (arXiv:2603.10535): divide the reward of correct answers by 1 + alpha L / "
               "mean L, with L tokens of the response and mean L of its group. The term is "
               "the difference from the accuracy."});
  fields.add("alpha", options.alpha,
             {.help = "Strength of the penalty. prime-rl's default; the paper's was not checked.",
              .min = 0});
}

float gr3_reward(const Gr3Options& options, bool correct, std::int64_t length, double mean_length) {
  if (!correct || length == 0) return 0.0F;
  const double relative = static_cast<double>(length) / mean_length;
  return static_cast<float>(1.0 / (1.0 + options.alpha * relative) - 1.0);
}

RewardTerm reward_term(const Gr3Options& options, std::int64_t) {
  return {.reward = [options](const VerifiedResponse& response) {
    return gr3_reward(options, response.correct(), response.length(), response.group_mean_length);
  }};
}

}  // namespace lie
