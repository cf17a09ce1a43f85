// R_acc: 1 for a right answer.
#pragma once

#include "common/rollout.h"

namespace lie {

/// R_acc of arXiv:2602.11748: 1 if the verifier accepts the answer, else 0.
float accuracy_reward(VerdictCode verdict);

}  // namespace lie
