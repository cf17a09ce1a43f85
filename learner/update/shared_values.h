// Reductions over learners after a mini-batch, other than the gradient itself. Every function is
// collective over the learners and blocks. Results are bit-identical for any number of learners.
#pragma once

#include <span>
#include <vector>

#include "common/comm/collective/collective.h"
#include "learner/update/policy_loss.h"

namespace lie {

/// Returns the sums and extremes over all gradient shards, added in ascending order, on every
/// learner. `by_shard` has one element per shard of the mini-batch; a learner leaves the elements
/// of other learners' shards as constructed.
PolicyLossStats sum_stats(Collective& learners, std::span<PolicyLossStats> by_shard);

/// Returns the sum over all gradient shards, added in ascending order. A learner passes 0 for the
/// shards of other learners.
double sum_shards(Collective& learners, std::vector<double> by_shard);

/// Makes all elements of `values` known to every learner. Each learner passes its own elements and
/// 0 for all others. An element of -0 becomes 0.
void share_values(Collective& learners, std::span<float> values);

}  // namespace lie
