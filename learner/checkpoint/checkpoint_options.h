// When and how a run saves checkpoints.
#pragma once

#include <cstdint>

#include "common/config/options.h"

namespace lie {

struct CheckpointOptions {
  std::int64_t every = 50;
  std::int64_t keep_last = 0;
  bool background = true;
};
void describe(FieldList& fields, CheckpointOptions& options);

/// The steps after which a run of `last_step` steps is saved.
struct CheckpointSchedule {
  std::int64_t every = 0;  // steps; 0: after the last step only
  std::int64_t last_step = 0;
  bool due_after(std::int64_t step) const {
    return step == last_step || (every > 0 && step > 0 && step % every == 0);
  }
};

}  // namespace lie
