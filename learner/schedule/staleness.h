// The staleness of the tokens that a step trains on, and its bound.
#pragma once

#include <cstdint>
#include <span>

#include "common/rollout/rollout.h"

namespace lie {

/// The staleness of tokens: how many training steps the weights that sampled them are older than
/// the weights that a step begins with.
struct Staleness {
  double mean = 0;  // NaN without tokens
  std::int64_t max = 0;
};
Staleness staleness_of(std::int64_t step, std::span<const ScoredGroup> groups);

/// Throws Error if tokens of the groups are staler than `max_staleness`, or were sampled with
/// weights that step `step` has yet to compute.
void check_staleness(std::int64_t step, std::span<const ScoredGroup> groups,
                     std::int64_t max_staleness);

}  // namespace lie
