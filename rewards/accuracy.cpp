#include "rewards/accuracy.h"

namespace lie {

RewardTerm reward_term(const AccuracyRewardOptions&, std::int64_t) {
  return {
      .reward =
          [](const VerifiedResponse& response) { return accuracy_reward(response.score.verdict); },
      .in_evaluation = true};
}

float accuracy_reward(VerdictCode verdict) { return verdict == VerdictCode::kEqual ? 1.0F : 0.0F; }

}  // namespace lie
