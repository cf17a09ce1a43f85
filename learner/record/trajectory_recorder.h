// The trajectories that a learner keeps of every step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/comm/collective/collective.h"
#include "common/config/options.h"
#include "common/trajectory/record.h"
#include "common/trajectory/writer.h"
#include "learner/checkpoint/checkpoint_schedule.h"
#include "learner/step_recorders.h"

namespace lie {

struct TrajectoryOptions {
  std::int64_t keep_last_steps = 0;
};
void describe(FieldList& fields, TrajectoryOptions& options);

/// Segments that end at checkpoints, and before a step whose reward program has numbers of new
/// names: a file's columns are fixed when it is made. Each learner keeps its share of the groups;
/// learner 0 keeps the groups not trained on and the evaluations. A background thread writes a step
/// while the next one runs, one step at a time. Step 0, which only evaluates, is written with step
/// 1: a segment after step 0 begins with either. Learner 0 keeps the index of segments.
class TrajectoryRecorder : public StepRecorder {
 public:
  /// The first segment begins after info.starts_after_step: steps up to there are in the log and
  /// pass without being recorded again (common/trajectory/recovery.h).
  TrajectoryRecorder(std::filesystem::path directory, TrajectoryInfo info,
                     const CheckpointSchedule& checkpoints, Collective& learners);

  /// Waits for the step before and throws its error. Collective over the learners except for step
  /// 0, which only learner 0 records. When a checkpoint is due, returns once all learners'
  /// trajectories up to here are on disk.
  void record(StepOutcome& step) override;
  /// Returns when the trajectories of all learners are on disk. Collective over the learners.
  void close() override;
  /// Returns when the last step is written, so that this thread may use HDF5. Throws its error.
  void wait();

 private:
  bool is_logged(std::int64_t step) const;
  void write(StepRecord record);
  void open();
  void add_columns();
  void share_numbers();
  void end_segment(std::int64_t step);
  void close_segment();

  std::filesystem::path directory_;
  TrajectoryInfo info_;
  CheckpointSchedule checkpoints_;
  Collective& learners_;
  std::set<std::string> numbers_;             // names of the further numbers so far
  std::int64_t last_step_;                    // that was written
  std::optional<StepRecord> start_;           // step 0, not written yet
  std::unique_ptr<TrajectoryWriter> writer_;  // null from the end of a segment to the next step
  std::future<void> writing_;                 // ends before the writer does
};

}  // namespace lie
