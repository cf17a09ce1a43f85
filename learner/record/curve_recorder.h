// The curves of a run, kept by learner 0: metrics.jsonl, TensorBoard events and the progress line.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/io/metrics_log.h"
#include "common/io/tensorboard.h"
#include "common/process/progress.h"
#include "learner/record/role_clocks.h"
#include "learner/record/run_coverage.h"
#include "learner/record/signal_watch.h"
#include "learner/schedule/open_groups.h"
#include "learner/step_recorders.h"

namespace lie {

class CurveRecorder : public StepRecorder {
 public:
  /// Continues after `last_step`; -1: a new run. Records of later steps, left by a killed process,
  /// are dropped; of a step that is learned again, the record with the times of the first time
  /// stays. The events are made again from metrics.jsonl: so those of an older build have today's
  /// tags, too. `steps`: of the run. `rewards`: the terms of the scores. `cautions`: as SignalWatch
  /// takes them. `coverage`: of the steps so far; steps are added to it.
  CurveRecorder(const std::filesystem::path& run_directory, std::int64_t last_step,
                std::int64_t steps, RewardNames rewards, std::vector<std::string> cautions,
                RunCoverage& coverage);

  void record(StepOutcome& step) override;
  void close() override { progress_.finish(); }
  /// Moves the progress line within a step.
  void show(const GroupsDone& done);

 private:
  /// `rows`: those that stay.
  CurveRecorder(const std::filesystem::path& run_directory, std::span<const MetricsRow> rows,
                std::int64_t steps, RewardNames rewards, std::vector<std::string> cautions,
                RunCoverage& coverage);
  void draw(const MetricsRow& row);  // in TensorBoard
  void show_step(const MetricsRow& row);
  void show_evaluation(const MetricsRow& row);

  MetricsLog log_;
  EventWriter events_;
  ProgressLine progress_;
  std::int64_t steps_;
  RewardNames rewards_;
  RunCoverage& coverage_;
  RoleClocks clocks_;
  SignalWatch signal_;
};

}  // namespace lie
