#include "learner/record/metrics_repair.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "common/base/run_files.h"
#include "common/config/config_history.h"
#include "common/process/log.h"
#include "common/text/counted.h"
#include "learner/record/step_metrics.h"
#include "learner/schedule/logged_steps.h"
#include "learner/step.h"

namespace lie {
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
                                      const AdvantageOptions& advantage,
                                      std::span<const ConfigChange> changes) {
  std::vector<MetricsRow> rows;
  for (const std::int64_t step : steps) {
    if (!log.holds(step)) continue;
    StepOutcome logged{read_logged_step(log, step, {})};
    logged.advantages = step_advantages(logged.groups, advantage);
    const StepContext context{.rewards = log.info_of(step).rewards,
                              .settings_changes = changes_before(changes, step)};
    rows.push_back({.step = step, .wall_time = 0, .values = step_metrics(logged, context)});
  }
  return rows;
}

void repair_metrics(const std::filesystem::path& run_directory, std::int64_t first,
                    std::int64_t last, const AdvantageOptions& advantage) {
  const Log log("learner", 0);
  const std::filesystem::path path = run_directory / kMetricsFile;
  MetricsFile file = metrics_to_continue(path);
  log.warn_each(file.damage);
  const Steps missing = missing_steps(file.rows, first, last);
  if (missing.empty() && file.damage.empty()) return;
  std::vector<MetricsRow> made;
  if (!missing.empty()) {
    made = rows_from_log(StepLog(run_directory / kTrajectories), missing, advantage,
                         config_changes(run_directory));
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
