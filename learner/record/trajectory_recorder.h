// Records the trajectories of every step in the trajectory log.
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
#include "learner/checkpoint/checkpoint_options.h"
#include "learner/step.h"

namespace lie {

/// Options of the trajectory log.
struct TrajectoryOptions {
  std::int64_t keep_last_steps = 0;  // steps, at least 0; 0: keep all
};
void describe(FieldList& fields, TrajectoryOptions& options);

/// Writes the log in segments. A segment ends at a checkpoint. It also ends before a step whose
/// reward program returns numbers of new names, because the columns of a file are fixed at its
/// creation. Each learner writes its share of the groups. Learner 0 also writes the groups that
/// were not trained on, the evaluations, and the index of segments. A background thread writes a
/// step while the next one runs, one step at a time. Step 0, which only evaluates, is written with
/// step 1.
class TrajectoryRecorder : public StepRecorder {
 public:
  /// Starts the first segment after info.starts_after_step. The log already holds the steps up to
  /// there (common/trajectory/recovery.h), so that they are not recorded again.
  TrajectoryRecorder(std::filesystem::path directory, TrajectoryInfo info,
                     const CheckpointSchedule& checkpoints, Collective& learners);

  /// Records a step. Waits until the previous step is written, and throws its error. If a
  /// checkpoint is due after the step, waits until the trajectories of all learners are on disk.
  /// Collective over the learners, except for step 0, which only learner 0 records.
  void record(StepOutcome& step) override;
  /// Waits until the trajectories of all learners are on disk. Collective over the learners.
  void close() override;
  /// Waits until the last step is written, after which this thread may call HDF5. Throws the error
  /// of the write.
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
  std::set<std::string> numbers_;             // names of all program numbers so far
  std::int64_t last_step_;                    // last step written
  std::optional<StepRecord> start_;           // step 0, until it is written
  std::unique_ptr<TrajectoryWriter> writer_;  // null between the end of a segment and the next step
  std::future<void> writing_;  // write of the last step; declared last, so that it ends first
};

}  // namespace lie
