// Restores lost lines of metrics.jsonl from the trajectory log when a run is resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "common/config/config_history.h"
#include "common/io/metrics_log.h"
#include "common/trajectory/step_log.h"
#include "learner/advantage/advantages.h"

namespace lie {

/// Makes the metrics of those steps that the log holds: the metrics of responses, rewards,
/// advantages and evaluations, but not those of the update, of C_global and of most times, which no
/// trajectory stores. `changes` are the run's config_changes().
std::vector<MetricsRow> rows_from_log(const StepLog& log, std::span<const std::int64_t> steps,
                                      const AdvantageOptions& advantage,
                                      std::span<const ConfigChange> changes);

/// Makes metrics.jsonl hold a valid line for each training step from `first` to `last`, as far as
/// the trajectories hold the step. A line that is damaged or missing is made again by
/// rows_from_log(). A damaged file is kept as metrics.jsonl.damaged. Each repair is a warning. Only
/// the writer of the directory may call it.
void repair_metrics(const std::filesystem::path& run_directory, std::int64_t first,
                    std::int64_t last, const AdvantageOptions& advantage);

}  // namespace lie
