#include "rewards/term/accuracy.h"

namespace lie {

RewardTerm reward_term(const AccuracyRewardOptions&, std::int64_t) {
  return {
      .reward = [](const VerifiedResponse& response) { return response.correct() ? 1.0F : 0.0F; },
      .in_evaluation = true};
}

}  // namespace lie
