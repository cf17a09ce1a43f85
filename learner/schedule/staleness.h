// How many steps the weights that sampled a step's tokens lack, and that none lacks more than it
// may.
#pragma once

#include <cstdint>
#include <span>

#include "common/rollout/rollout.h"

namespace lie {

/// Over the response tokens of a step's groups. Staleness of a token: training steps between the
/// weights that sampled it and those that the step begins with.
struct Staleness {
  double mean = 0;  // NaN without tokens
  std::int64_t max = 0;
};
Staleness staleness_of(std::int64_t step, std::span<const ScoredGroup> groups);

/// Throws Error, which counts them, if tokens of the groups are staler than `max_staleness`, or of
/// weights that step `step` is yet to make.
void check_staleness(std::int64_t step, std::span<const ScoredGroup> groups,
                     std::int64_t max_staleness);

}  // namespace lie
