// When a run saves checkpoints.
#pragma once

#include <cstdint>

namespace lie {

/// The steps after which a run of `last_step` steps is saved.
struct CheckpointSchedule {
  std::int64_t every = 0;  // steps; 0: after the last step only
  std::int64_t last_step = 0;
  bool due_after(std::int64_t step) const {
    return step == last_step || (every > 0 && step > 0 && step % every == 0);
  }
};

}  // namespace lie
