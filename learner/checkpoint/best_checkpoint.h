// The best checkpoint of a run: that of the evaluated step with the greatest value of a metric.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/config/options.h"

namespace lie {

struct BestCheckpointOptions {
  std::string keep_best;  // a metric; empty: no checkpoint is kept as the best
};
void describe(FieldList& fields, BestCheckpointOptions& options);

/// Throws Error unless `metric`, which `key` names, is empty or one of `given`, the metrics that
/// evaluations give.
void check_metric(std::string_view key, const std::string& metric,
                  std::span<const std::string> given);

/// Returns the step with the greatest value of the metric in metrics.jsonl, among the steps that
/// have a checkpoint; the earliest of equal ones. If settings of evaluations changed at a resume,
/// steps before the change count only as long as no later one has the metric. Returns empty if no
/// such step has it. The best checkpoint is never removed, so its step is not stored elsewhere.
std::optional<std::int64_t> best_saved_step(const std::filesystem::path& run_directory,
                                            const std::string& metric);

}  // namespace lie
