// The learner's role: a step's groups in, advantages, update, the step's outcome out.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/stream.h"
#include "learner/step.h"
#include "learner/update/advantage.h"
#include "learner/update/update.h"

namespace lie {

/// The parts of a learner. Everything outlives run_learner.
struct LearnerParts {
  AdvantageOptions advantage;
  PolicyUpdater& updater;
  Source<StepGroups>& groups;  // the same steps on every learner
  Sink<StepOutcome>& outcomes;
  /// Checked of every token before it is trained on; empty: groups are taken as they are.
  std::optional<std::int64_t> max_staleness = {};
};

/// Trains on every step of the source, then closes `outcomes`. Collective over the updater's
/// learners. Blocks.
void run_learner(const LearnerParts& parts);

}  // namespace lie
