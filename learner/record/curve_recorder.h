// The curves of a run, recorded by learner 0: metrics.jsonl, TensorBoard events, the progress line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/io/metrics_log.h"
#include "common/io/tensorboard.h"
#include "common/process/progress.h"
#include "common/rollout/rollout.h"
#include "learner/record/metric_condition.h"
#include "learner/record/role_clocks.h"
#include "learner/record/run_coverage.h"
#include "learner/record/watch/run_watches.h"
#include "learner/schedule/early_stop.h"
#include "learner/step.h"

namespace lie {

class CurveRecorder : public StepRecorder {
 public:
  /// Resumes after `last_step`; -1 starts a new run. Records of later steps, which a killed process
  /// left, are dropped. A step that is learned again keeps its first record, with its original
  /// times. All TensorBoard events are rewritten from metrics.jsonl, so that tags are always those
  /// of this build. `steps` is the number of steps of the run, `rewards` the reward terms of the
  /// scores, and `cautions` the argument of SignalWatch. Steps are added to `coverage`, which must
  /// hold the n-grams up to `last_step` and outlive this object.
  CurveRecorder(const std::filesystem::path& run_directory, std::int64_t last_step,
                std::int64_t steps, RewardNames rewards, std::vector<std::string> cautions,
                RunCoverage& coverage);

  void record(StepOutcome& step) override;
  void close() override { progress_.finish(); }
  /// Gives each later record the number of changes of the run's settings before it.
  void note_settings_changes(std::int64_t changes) { settings_changes_ = changes; }
  /// Sets the criterion by which dynamic sampling selects groups, for its metrics.
  void note_signal(SignalOf signal) { signal_of_groups_ = signal; }
  /// Ends the run at the first step that meets the condition. Keeps a reference to `stop`.
  void stop_when(const MetricCondition& goal, EarlyStop& stop) { goal_ = goal, stop_ = &stop; }
  /// Updates the progress line within a step.
  void show(const GroupsProgress& progress) { progress_.show_groups(progress); }

 private:
  void draw(const MetricsRow& row);  // writes TensorBoard events
  void warn(const std::vector<std::string>& warnings) const;

  std::filesystem::path run_directory_;
  MetricsLog log_;
  EventWriter events_;
  ProgressLine progress_;
  std::int64_t steps_;
  RewardNames rewards_;
  std::int64_t settings_changes_ = 0;
  SignalOf signal_of_groups_ = SignalOf::kAccuracy;
  std::optional<MetricCondition> goal_;
  EarlyStop* stop_ = nullptr;  // null without a goal
  RunCoverage& coverage_;
  RoleClocks clocks_;
  SignalWatch signal_;
  LengthWatch length_;
  LearningWatch learning_;
};

}  // namespace lie
