#include "learner/record/curve_recorder.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <set>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/process/log.h"
#include "common/text/counted.h"
#include "learner/record/step_metrics.h"
#include "learner/record/tensorboard_tag.h"
#include "learner/schedule/logged_steps.h"

namespace lie {
namespace {

void keep_latest(std::map<std::int32_t, RoleClock>& latest, std::int32_t rank, RoleClock clock) {
  RoleClock& kept = latest[rank];
  kept.busy_seconds = std::max(kept.busy_seconds, clock.busy_seconds);
  kept.idle_seconds = std::max(kept.idle_seconds, clock.idle_seconds);
}

RoleClock total(const std::map<std::int32_t, RoleClock>& clocks) {
  RoleClock sum;
  for (const auto& [rank, clock] : clocks) {
    sum.busy_seconds += clock.busy_seconds;
    sum.idle_seconds += clock.idle_seconds;
  }
  return sum;
}

}  // namespace

std::vector<std::pair<std::string, RoleClock>> RoleClocks::advance(
    std::span<const ScoredGroup> groups) {
  const RoleClock actors_before = total(actors_), workers_before = total(reward_workers_);
  for (const ScoredGroup& group : groups) {
    for (const auto& [actor, clock] : group.rollout.actor_clocks)
      keep_latest(actors_, actor, clock);
    keep_latest(reward_workers_, group.reward_worker, group.reward_clock);
  }
  const auto since = [](RoleClock now, RoleClock before) {
    return RoleClock{now.busy_seconds - before.busy_seconds,
                     now.idle_seconds - before.idle_seconds};
  };
  return {{"actor", since(total(actors_), actors_before)},
          {"reward_worker", since(total(reward_workers_), workers_before)}};
}

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

}  // namespace

CurveRecorder::CurveRecorder(const std::filesystem::path& run_directory, std::int64_t last_step,
                             std::int64_t steps, RewardNames rewards,
                             std::vector<std::string> cautions, RunCoverage& coverage)
    : log_(run_directory / kMetricsFile, rows_up_to(last_step, run_directory / kMetricsFile)),
      events_(run_directory / "tensorboard"),
      progress_(stderr, steps),
      steps_(steps),
      rewards_(std::move(rewards)),
      coverage_(coverage),
      signal_(rewards_, std::move(cautions)) {
  for (const MetricsRow& row : read_metrics(run_directory / kMetricsFile)) {
    draw(row);
    signal_.after(row);
  }
}

void CurveRecorder::draw(const MetricsRow& row) {
  events_.write(row.wall_time, row.step, scalars_of(row));
}

void CurveRecorder::record(StepOutcome& step) {
  if (step.step == 0 && step.evaluation.empty()) return;
  StepContext context{.rewards = rewards_,
                      .coverage = coverage_.add_step(step.groups),
                      .settings_changes = settings_changes_};
  if (step.is_logged && log_.holds(step.step)) return;
  context.roles = clocks_.advance(step.groups);
  context.roles.emplace_back("learner", learner_clock(step.seconds));
  const MetricsRow row{
      .step = step.step, .wall_time = unix_seconds(), .values = step_metrics(step, context)};
  log_.append(row);
  draw(row);
  if (row.step > 0) progress_.show_step(row);
  for (const std::string& warning : signal_.after(row)) Log("learner", 0).warn("{}", warning);
  for (const std::string& warning : learning_.after(row)) Log("learner", 0).warn("{}", warning);
  if (row.find("eval_accuracy")) progress_.show_evaluation(row);
  if (goal_ && goal_->holds(row)) {
    stop_->reach(
        fmt::format("done: {} of {}, until {}", row.step, counted(steps_, "step"), goal_->text));
  }
}

namespace {

using Steps = std::vector<std::int64_t>;

Steps missing_steps(std::span<const MetricsRow> rows, std::int64_t first, std::int64_t last) {
  std::set<std::int64_t> held;
  for (const MetricsRow& row : rows) held.insert(row.step);
  Steps missing;
  for (std::int64_t step = first; step <= last; ++step) {
    if (!held.contains(step)) missing.push_back(step);
  }
  return missing;
}

}  // namespace

std::vector<MetricsRow> rows_from_log(const StepLog& log, std::span<const std::int64_t> steps,
                                      const AdvantageOptions& advantage) {
  std::vector<MetricsRow> rows;
  for (const std::int64_t step : steps) {
    if (!log.holds(step)) continue;
    StepOutcome logged{read_logged_step(log, step, {})};
    for (const ScoredGroup& group : logged.groups) {
      logged.advantages.push_back(group_advantages(group.scores, advantage));
    }
    rows.push_back({.step = step,
                    .wall_time = 0,
                    .values = step_metrics(logged, {log.info_of(step).rewards})});
  }
  return rows;
}

void repair_metrics(const std::filesystem::path& run_directory, std::int64_t first,
                    std::int64_t last, const AdvantageOptions& advantage) {
  const Log log("learner", 0);
  const std::filesystem::path path = run_directory / kMetricsFile;
  MetricsFile file = metrics_to_continue(path);
  for (const std::string& damage : file.damage) log.warn("{}", damage);
  const Steps missing = missing_steps(file.rows, first, last);
  if (missing.empty() && file.damage.empty()) return;
  std::vector<MetricsRow> made;
  if (!missing.empty()) {
    made = rows_from_log(StepLog(run_directory / "trajectories"), missing, advantage);
  }
  if (!made.empty()) {
    log.warn(
        "{}: lacked the lines of {}, the first is {}; they were restored from the trajectories, "
        "without the metrics of the update, of C_global and of times",
        path.string(), counted(std::ssize(made), "step"), made.front().step);
  }
  std::ranges::move(made, std::back_inserter(file.rows));
  std::ranges::sort(file.rows, {}, &MetricsRow::step);
  double latest = 0;  // the time of a lost line lies after that of the line before it
  for (MetricsRow& row : file.rows) latest = row.wall_time = std::max(row.wall_time, latest);
  const MetricsLog repaired(path, file.rows);
}

}  // namespace lie
