// The curves of a run, recorded by learner 0: metrics.jsonl, TensorBoard events, the progress line.
// Also repairs metrics.jsonl when a run is resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/io/metrics_log.h"
#include "common/io/tensorboard.h"
#include "common/process/progress.h"
#include "common/rollout/rollout.h"
#include "common/trajectory/step_log.h"
#include "learner/record/metric_condition.h"
#include "learner/record/run_coverage.h"
#include "learner/record/run_watches.h"
#include "learner/schedule/early_stop.h"
#include "learner/step.h"
#include "learner/update/advantage.h"

namespace lie {

/// Busy and idle time of each role per step, from the cumulative clocks that are sent with the
/// groups.
class RoleClocks {
 public:
  /// Reads the clocks of `groups`. Returns the busy and idle seconds since the last call, summed
  /// over the ranks of each role: {"actor", ...}, {"reward_worker", ...}.
  std::vector<std::pair<std::string, RoleClock>> advance(std::span<const ScoredGroup> groups);

 private:
  using ByRank = std::map<std::int32_t, RoleClock>;
  ByRank actors_, reward_workers_;  // latest clock of each rank
};

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
  /// Ends the run at the first step that meets the condition. Keeps a reference to `stop`.
  void stop_when(const MetricCondition& goal, EarlyStop& stop) { goal_ = goal, stop_ = &stop; }
  /// Updates the progress line within a step.
  void show(const GroupsProgress& progress) { progress_.show_groups(progress); }

 private:
  void draw(const MetricsRow& row);  // writes TensorBoard events

  MetricsLog log_;
  EventWriter events_;
  ProgressLine progress_;
  std::int64_t steps_;
  RewardNames rewards_;
  std::int64_t settings_changes_ = 0;
  std::optional<MetricCondition> goal_;
  EarlyStop* stop_ = nullptr;  // null without a goal
  RunCoverage& coverage_;
  RoleClocks clocks_;
  SignalWatch signal_;
  LearningWatch learning_;
};

/// Makes the metrics of those steps that the log holds: the metrics of responses, rewards,
/// advantages and evaluations, but not those of the update, of C_global and of most times, which no
/// trajectory stores.
std::vector<MetricsRow> rows_from_log(const StepLog& log, std::span<const std::int64_t> steps,
                                      const AdvantageOptions& advantage);

/// Makes metrics.jsonl hold a valid line for each training step from `first` to `last`, as far as
/// the trajectories hold the step. A line that is damaged or missing is made again by
/// rows_from_log(). A damaged file is kept as metrics.jsonl.damaged. Each repair is a warning. Only
/// the writer of the directory may call it.
void repair_metrics(const std::filesystem::path& run_directory, std::int64_t first,
                    std::int64_t last, const AdvantageOptions& advantage);

}  // namespace lie
