#include "learner/record/curve_recorder.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "common/base/clock.h"
#include "common/base/run_files.h"
#include "common/process/log.h"
#include "common/process/start_record.h"
#include "common/text/counted.h"
#include "learner/record/step_metrics.h"
#include "learner/record/tensorboard_tag.h"

namespace lie {
namespace {

std::vector<Scalar> scalars_of(const MetricsRow& row) {
  std::vector<Scalar> scalars;
  for (const auto& [name, value] : row.values) {
    if (std::isfinite(value)) scalars.push_back({tensorboard_tag(name), value});
  }
  return scalars;
}

/// Returns the busy and idle time of learner 0. Publishing counts as idle: it waits for the actors.
RoleClock learner_clock(const StepSeconds& seconds) {
  return {.busy_seconds = seconds.update + seconds.log,
          .idle_seconds = seconds.generate + seconds.publish + seconds.evaluate};
}

std::vector<MetricsRow> rows_up_to(std::int64_t last_step, const std::filesystem::path& path) {
  std::vector<MetricsRow> rows = read_metrics(path);
  drop_after(last_step, rows);
  return rows;
}

}  // namespace

CurveRecorder::CurveRecorder(const std::filesystem::path& run_directory, std::int64_t last_step,
                             std::int64_t steps, RewardNames rewards,
                             std::vector<std::string> cautions, RunCoverage& coverage)
    : run_directory_(run_directory),
      log_(run_directory / kMetricsFile, rows_up_to(last_step, run_directory / kMetricsFile)),
      events_(run_directory / kTensorBoard),
      progress_(stderr, steps),
      steps_(steps),
      rewards_(std::move(rewards)),
      coverage_(coverage),
      signal_(rewards_, std::move(cautions)) {
  for (const MetricsRow& row : read_metrics(run_directory / kMetricsFile)) {
    draw(row);
    signal_.after(row);
    length_.after(row);
  }
}

void CurveRecorder::draw(const MetricsRow& row) {
  events_.write(row.wall_time, row.step, scalars_of(row));
}

void CurveRecorder::warn(const std::vector<std::string>& warnings) const {
  for (const std::string& warning : warnings) {
    Log("learner", 0).warn("{}", warning);
    record_warning(run_directory_, warning);
  }
}

void CurveRecorder::record(StepOutcome& step) {
  if (step.step == 0 && step.evaluation.empty()) return;
  StepContext context{.rewards = rewards_,
                      .coverage = coverage_.add_step(step.groups),
                      .settings_changes = settings_changes_,
                      .signal = signal_of_groups_};
  if (step.is_logged && log_.holds(step.step)) return;
  context.roles = clocks_.advance(step.groups);
  context.roles.emplace_back("learner", learner_clock(step.seconds));
  const MetricsRow row{
      .step = step.step, .wall_time = unix_seconds(), .values = step_metrics(step, context)};
  log_.append(row);
  draw(row);
  if (row.step > 0) progress_.show_step(row);
  warn(signal_.after(row));
  warn(length_.after(row));
  warn(learning_.after(row));
  if (row.find("eval_accuracy")) progress_.show_evaluation(row);
  if (goal_ && goal_->holds(row)) {
    stop_->reach(
        fmt::format("done: {} of {}, until {}", row.step, counted(steps_, "step"), goal_->text));
  }
}

}  // namespace lie
