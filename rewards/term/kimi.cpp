#include "rewards/term/kimi.h"

#include <algorithm>

namespace lie {

void describe(FieldList& fields, KimiRewardOptions& options) {
  fields.add("enabled", options.enabled,
             {.help = "Length reward of Kimi k1.5 (arXiv:2501.12599): weight x (0.5 - (L - min) / "
                      "(max - min)) with the shortest and the longest response of the group; an "
                      "incorrect answer gains nothing."});
  fields.add("weight", options.weight,
             {.help = "Largest difference of the term within a group, for correct answers. 0.4 is "
                      "that of Laser's code; the paper names none.",
              .min = 0});
}

float kimi_reward(const KimiRewardOptions& options, bool correct, std::int64_t length,
                  std::int64_t shortest, std::int64_t longest) {
  if (longest == shortest) return 0.0F;
  const double share =
      static_cast<double>(length - shortest) / static_cast<double>(longest - shortest);
  const double gain = 0.5 - share;
  return static_cast<float>(options.weight * (correct ? gain : std::min(gain, 0.0)));
}

RewardTerm reward_term(const KimiRewardOptions& options, std::int64_t) {
  return {.reward = [options](const VerifiedResponse& response) {
    return kimi_reward(options, response.correct(), response.length(), response.group.shortest,
                       response.group.longest);
  }};
}

}  // namespace lie
