// Everything a run leaves behind but its checkpoints: trajectories, metrics.jsonl, TensorBoard
// events and the progress line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/metrics_log.h"
#include "common/progress.h"
#include "common/tensorboard.h"
#include "common/trajectory/record.h"
#include "common/trajectory/writer.h"

namespace lie {

/// The curves of a run, kept by learner 0: metrics.jsonl, TensorBoard and the progress line.
class CurveRecorder {
 public:
  /// Goes on after `last_step`, or begins with -1: what a killed process recorded of later steps is
  /// dropped.
  CurveRecorder(const std::filesystem::path& run_directory, std::int64_t last_step,
                std::int64_t steps);
  void record(const MetricsRow& row);
  void finish() { progress_.finish(); }

 private:
  void show_step(const MetricsRow& row);
  void show_evaluation(const MetricsRow& row);

  MetricsLog log_;
  EventWriter events_;
  ProgressLine progress_;
  std::int64_t steps_;
};

/// The trajectories that one learner keeps, in segments that end at checkpoints, and before a step
/// whose reward program has numbers of new names: a file's columns are fixed when it is made. A
/// step is written by a thread beside the learner, while the next one begins; one step at a time.
/// Step 0, which only evaluates, is written with step 1, for a segment after step 0 begins with
/// either.
class TrajectoryRecorder {
 public:
  /// The first segment begins after info.starts_after_step. Segments that began there or later must
  /// have been removed (common/trajectory/segments.h).
  TrajectoryRecorder(std::filesystem::path directory, TrajectoryInfo info);
  /// Waits for the step before. Throws what went wrong with it. `numbers`: names of the further
  /// numbers of the step, of all learners alike, so that all cut their segments together.
  void record(StepRecord record, const std::vector<std::string>& numbers = {});
  /// Ends the segment after `step`: everything up to it is on disk. The next one begins there.
  void cut_after(std::int64_t step);
  void close();

 private:
  void wait();
  void open();
  void add_columns(const std::vector<std::string>& numbers);

  std::filesystem::path directory_;
  TrajectoryInfo info_;
  std::int64_t last_step_;
  std::optional<StepRecord> start_;           // step 0, not written yet
  std::unique_ptr<TrajectoryWriter> writer_;  // made with its first step
  std::future<void> writing_;                 // ends before the writer does
};

}  // namespace lie
