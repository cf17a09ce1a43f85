// The trajectories that a learner keeps of every step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>

#include "common/comm/collective.h"
#include "common/trajectory/record.h"
#include "common/trajectory/writer.h"
#include "learner/checkpoint.h"
#include "learner/step_chain.h"

namespace lie {

/// Segments that end at checkpoints: of the groups a learner keeps its share, the evaluations are
/// learner 0's. A step is written by a thread beside the learner, while the next one begins; one
/// step at a time.
class TrajectoryRecorder : public StepStage {
 public:
  /// Begins a segment after info.starts_after_step. Segments that began there or later must have
  /// been removed (common/trajectory/segments.h).
  TrajectoryRecorder(std::filesystem::path directory, TrajectoryInfo info,
                     const CheckpointSchedule& checkpoints, Collective& learners);

  /// Waits for the step before; throws what went wrong with it. Where a checkpoint is due, returns
  /// when the trajectories of all learners up to here are on disk: collective over the learners.
  void take(StepOutcome& step) override;
  void close() override;

 private:
  void record(StepRecord record);
  void wait();

  std::filesystem::path directory_;
  TrajectoryInfo info_;
  CheckpointSchedule checkpoints_;
  Collective& learners_;
  std::unique_ptr<TrajectoryWriter> writer_;  // null from the end of a segment to the next step
  std::future<void> writing_;                 // ends before the writer does
};

}  // namespace lie
