// Generation over all ranks of a job, without training: every rank generates, rank 0 hands out the
// tickets besides and takes what comes back. What eval and reference-lengths are made of.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>

#include "actors/rollout_options.h"
#include "common/comm/job.h"
#include "common/rollout.h"
#include "tools/run/options.h"

namespace lie {

struct PoolOptions {
  ModelOptions model;
  RolloutOptions rollout;
  std::uint64_t seed = 0;
  bool keep_binding = false;
};

/// Takes a finished group, on rank 0.
using TakeGroup = std::function<void(RolloutGroup)>;

/// Answers rank 0's `tickets` (the others' are not looked at) with the model's own weights, and
/// calls `take` on rank 0 with each group as it is finished. A group does not depend on the number
/// of ranks (invariant E3), the order of groups does. Collective over the world. Throws Error.
void generate_over_ranks(Job& job, const PoolOptions& options, std::deque<Ticket> tickets,
                         const TakeGroup& take);

}  // namespace lie
