// Makes the results of an update known to all learners, each of which trained on its own gradient
// shards. Every function is collective over the learners and blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/comm/collective/collective.h"
#include "common/rollout/rollout.h"
#include "common/trajectory/record.h"
#include "learner/loss/loss_stats.h"

namespace lie {

/// Returns the sums and extremes over all gradient shards, added in ascending order, on every
/// learner. `by_shard` has one element per shard of the mini-batch. `own` are the shards whose
/// elements this learner has set; it leaves all others as constructed.
PolicyLossStats sum_stats(Collective& learners, std::span<const std::int64_t> own,
                          std::span<PolicyLossStats> by_shard);

/// Completes the results of all responses, [groups][G], of which each learner has filled in those
/// of its own share.
void share_responses(Collective& learners, std::span<const ScoredGroup> groups,
                     std::span<std::vector<LearnerResult>> results);

}  // namespace lie
