// Applies the token rules of the loss to a mini-batch, of which each learner computes a part.
#pragma once

#include <span>
#include <vector>

#include "common/base/random.h"
#include "common/comm/collective/collective.h"
#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"
#include "learner/loss/policy_loss.h"
#include "learner/update/batch.h"

namespace lie {

/// Values of the response tokens of a mini-batch, [responses][T] each.
struct TokenValues {
  std::vector<std::vector<float>> log_probs, entropies;
  std::vector<std::vector<float>> teacher_log_probs = {};  // empty without a teacher
};

/// Completes the values of all responses of a mini-batch, of which each learner has filled in those
/// of its own share. Collective over the learners; blocks.
void share_token_values(Collective& learners, std::span<const ScoredGroup> groups,
                        std::span<const ResponseIndex> mini_batch, TokenValues& values);

/// Returns the terms of a mini-batch's tokens, [responses][T]. Rules see the tokens of responses
/// that have a loss. `before` holds values before the step's first update, if the loss needs them.
/// `draws` identifies the mini-batch. Adds to `counts`, which are those of the same rules or empty.
std::vector<std::vector<TokenTerm>> token_terms(const PolicyLossOptions& options,
                                                std::span<const ScoredGroup> groups,
                                                std::span<const GroupAdvantages> advantages,
                                                std::span<const ResponseIndex> mini_batch,
                                                const TokenValues& before, const RandomKey& draws,
                                                std::vector<RuleCount>& counts);

}  // namespace lie
