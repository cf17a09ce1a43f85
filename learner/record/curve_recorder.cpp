#include "learner/record/curve_recorder.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/process/log.h"
#include "common/text/counted.h"
#include "learner/record/metric_groups.h"
#include "learner/record/step_metrics.h"

namespace lie {
namespace {

constexpr const char* kMetricsFile = "metrics.jsonl";

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

StepMetricsInput metrics_input(const StepOutcome& step, const RewardNames& rewards) {
  const StepSeconds& seconds = step.seconds;
  return {.step = step.step,
          .rewards = rewards,
          .groups = step.groups,
          .dropped = step.dropped,
          .wanted_groups = step.wanted_groups,
          .advantages = step.advantages,
          .update = step.groups.empty() ? nullptr : &step.update,
          .coverage = {},
          .evaluation = step.evaluation,
          .phase_seconds = {{"step", seconds.all()},
                            {"generate", seconds.generate},
                            {"update", seconds.update},
                            {"publish", seconds.publish},
                            {"evaluate", seconds.evaluate},
                            {"log", seconds.log}},
          .roles = {}};
}

}  // namespace

CurveRecorder::CurveRecorder(const std::filesystem::path& run_directory, std::int64_t last_step,
                             std::int64_t steps, RewardNames rewards,
                             std::vector<std::string> cautions, RunCoverage& coverage)
    : CurveRecorder(run_directory, rows_up_to(last_step, run_directory / kMetricsFile), steps,
                    std::move(rewards), std::move(cautions), coverage) {}

CurveRecorder::CurveRecorder(const std::filesystem::path& run_directory,
                             std::span<const MetricsRow> rows, std::int64_t steps,
                             RewardNames rewards, std::vector<std::string> cautions,
                             RunCoverage& coverage)
    : log_(run_directory / kMetricsFile, rows),
      events_(run_directory / "tensorboard"),
      progress_(stderr),
      steps_(steps),
      rewards_(std::move(rewards)),
      coverage_(coverage),
      signal_(rewards_, std::move(cautions)) {
  for (const MetricsRow& row : rows) {
    draw(row);
    signal_.after(row);
  }
}

void CurveRecorder::draw(const MetricsRow& row) {
  events_.write(row.wall_time, row.step, scalars_of(row));
}

void CurveRecorder::record(StepOutcome& step) {
  if (step.step == 0 && step.evaluation.empty()) return;
  StepMetricsInput input = metrics_input(step, rewards_);
  input.settings_changes = settings_changes_;
  input.coverage = coverage_.add_step(step.groups);
  if (step.is_logged && log_.holds(step.step)) return;
  input.roles = clocks_.advance(step.groups);
  input.roles.emplace_back("learner", learner_clock(step.seconds));
  const MetricsRow row{
      .step = step.step, .wall_time = unix_seconds(), .values = step_metrics(input)};
  log_.append(row);
  draw(row);
  if (row.step > 0) show_step(row);
  for (const std::string& warning : signal_.after(row)) Log("learner", 0).warn("{}", warning);
  for (const std::string& warning : learning_.after(row)) Log("learner", 0).warn("{}", warning);
  if (row.find("eval_accuracy")) show_evaluation(row);
  if (goal_ && goal_->holds(row)) {
    stop_->reach(
        fmt::format("done: {} of {}, until {}", row.step, counted(steps_, "step"), goal_->text));
  }
}

void CurveRecorder::show(const GroupsDone& done) {
  progress_.show(GroupsProgress{.step = done.step,
                                .steps = steps_,
                                .is_evaluation = done.purpose == Purpose::kEvaluate,
                                .groups = done.groups,
                                .all_groups = done.all_groups,
                                .tokens = done.tokens});
}

void CurveRecorder::show_step(const MetricsRow& row) {
  progress_.show(StepProgress{.step = row.step,
                              .steps = steps_,
                              .accuracy = row.value_or_zero("accuracy"),
                              .reward_mean = row.value_or_zero("reward_mean"),
                              .response_length_mean = row.value_or_zero("response_length_mean"),
                              .truncated_share = row.value_or_zero("truncation_rate"),
                              .c_context_mean = row.value_or_zero("c_context_mean"),
                              .tokens_per_second = row.value_or_zero("tokens_per_second"),
                              .step_seconds = row.value_or_zero("step_seconds")});
}

void CurveRecorder::show_evaluation(const MetricsRow& row) {
  progress_.show(
      EvaluationProgress{.step = row.step,
                         .steps = steps_,
                         .accuracy = row.value_or_zero("eval_accuracy"),
                         .response_length_mean = row.value_or_zero("eval_response_length_mean"),
                         .c_context_mean = row.value_or_zero("eval_c_context_mean")});
}

}  // namespace lie
