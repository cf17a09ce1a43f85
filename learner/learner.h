// The learner's role: trains on every step, publishes the weights and records the outcome.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/stream.h"
#include "learner/advantage/advantages.h"
#include "learner/schedule/coordinator.h"
#include "learner/schedule/publisher.h"
#include "learner/schedule/rollout_schedule.h"
#include "learner/schedule/tickets.h"
#include "learner/step.h"
#include "learner/update/update.h"

namespace lie {

/// The evaluations of a run, which the actors generate.
struct LearnerEvaluations {
  Coordinator& coordinator;
  const EvaluationTickets& tickets;
};

/// The parts of a learner. Everything outlives run_learner().
struct LearnerParts {
  Source<StepGroups>& groups;  // the same steps on every learner
  AdvantageOptions advantage;
  PolicyUpdater& updater;
  StepRecorder& recorders;
  StepRecorder& checkpoints;
  /// The staleness above which a token must not be trained on; empty: any token may be.
  std::optional<std::int64_t> max_staleness = {};
  /// Sends the actors new weights; null in a replay.
  Publisher* publisher = nullptr;
  /// On learner 0 of a run that generates; empty on other learners and in a replay.
  std::optional<LearnerEvaluations> evaluations = {};
  /// On learner 0 of a run that records its schedule; else null.
  ScheduleRecorder* schedule = nullptr;
};

/// Handles the start policy as step 0, before run_learner(): publishes it, evaluates it unless the
/// log has its evaluation, and records it. On learner 0 only.
void record_start_policy(const LearnerParts& parts, StepOutcome start);

/// Trains on every step of `parts.groups`, then closes the recorders. Collective over the updater's
/// learners. Blocks.
void run_learner(const LearnerParts& parts);

}  // namespace lie
