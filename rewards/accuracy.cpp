#include "rewards/accuracy.h"

namespace lie {

float accuracy_reward(VerdictCode verdict) { return verdict == VerdictCode::kEqual ? 1.0F : 0.0F; }

}  // namespace lie
