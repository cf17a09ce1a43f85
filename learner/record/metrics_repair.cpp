#include "learner/record/metrics_repair.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "common/base/error.h"
#include "common/io/metrics_log.h"
#include "common/process/log.h"
#include "common/text/counted.h"
#include "common/trajectory/step_log.h"
#include "learner/record/step_metrics.h"
#include "learner/schedule/logged_steps.h"

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

MetricsRow row_from_log(const StepLog& log, std::int64_t step, const MetricsBasis& basis) {
  const StepGroups logged = read_logged_step(log, step, {});
  std::vector<GroupAdvantages> advantages;
  for (const ScoredGroup& group : logged.groups) {
    advantages.push_back(group_advantages(group.scores, basis.advantage));
  }
  StepMetricsInput input;
  input.step = step;
  input.rewards = basis.rewards;
  input.groups = logged.groups;
  input.dropped = logged.dropped;
  input.advantages = advantages;
  input.evaluation = logged.evaluation;
  return {.step = step, .wall_time = 0, .values = step_metrics(input)};
}

/// Makes the rows of those steps that the log holds.
std::vector<MetricsRow> rows_from_log(const std::filesystem::path& trajectories, const Steps& steps,
                                      const MetricsBasis& basis) {
  const StepLog log(trajectories);
  std::vector<MetricsRow> rows;
  for (const std::int64_t step : steps) {
    if (log.holds(step)) rows.push_back(row_from_log(log, step, basis));
  }
  return rows;
}

}  // namespace

void repair_metrics(const std::filesystem::path& run_directory, std::int64_t first,
                    std::int64_t last, const MetricsBasis& basis) {
  const Log log("learner", 0);
  const std::filesystem::path path = run_directory / "metrics.jsonl";
  MetricsFile file = metrics_to_continue(path);
  for (const std::string& damage : file.damage) log.warn("{}", damage);
  const Steps missing = missing_steps(file.rows, first, last);
  if (missing.empty() && file.damage.empty()) return;
  std::vector<MetricsRow> made;
  if (!missing.empty()) made = rows_from_log(run_directory / "trajectories", missing, basis);
  if (!made.empty()) {
    log.warn(
        "{}: lacked the lines of {}, the first is {}; they were made again from the trajectories, "
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
