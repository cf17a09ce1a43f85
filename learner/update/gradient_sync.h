// What learners reduce after a mini-batch beside its gradient
// (learner/update/gradient_shard_sum.h). Each function is collective over the learners, in the
// order of update.cpp, and gives the same bits on any number of them.
#pragma once

#include <span>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/update/policy_loss.h"

namespace lie {

/// Sums and extremes over all lanes, added in their order, on every learner. `by_shard`
/// has an element for each lane of the mini-batch, and the others' are as constructed. Blocks.
PolicyLossStats sum_stats(Collective& learners, std::span<PolicyLossStats> by_shard);

/// The sum over all lanes, added in their order; those of other learners are 0. Blocks.
double sum_shards(Collective& learners, std::vector<double> by_shard);

/// Makes `values` known to all where each learner filled in its own elements and left the others 0;
/// -0 becomes 0. Blocks.
void share_values(Collective& learners, std::span<float> values);

}  // namespace lie
