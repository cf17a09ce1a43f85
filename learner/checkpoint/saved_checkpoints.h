// Finds the checkpoint from which a run can resume, detects damaged ones (invariant E10), and finds
// the best checkpoint: that of the evaluated step with the greatest value of a metric.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/options.h"
#include "common/process/log.h"
#include "learner/checkpoint/checkpoint_directory.h"

namespace lie {

/// Returns the damaged, truncated or missing files of a checkpoint, a phrase for each. Reads the
/// complete checkpoint. Checkpoints written without checksums have no faults.
std::vector<std::string> checkpoint_faults(const std::filesystem::path& checkpoint);

/// Returns the last valid checkpoint of step `at_most` or an earlier one. Renames later, damaged
/// ones to step-NNNNNN.damaged with a warning each; readers ignore that name and nothing removes
/// it. Accepts a checkpoint without checksums with a warning. Returns empty if there was never a
/// checkpoint. If all are damaged, it returns empty with a warning if `log_holds` says that the
/// trajectory log holds the step of the last one; otherwise throws Error. Only the writer of the
/// directory may call this.
std::optional<std::filesystem::path> valid_checkpoint(
    const std::filesystem::path& checkpoints, const Log& log,
    const std::function<bool(std::int64_t step)>& log_holds = {}, std::int64_t at_most = kAnyStep);

/// Returns or throws what valid_checkpoint() would, but renames nothing.
std::optional<std::filesystem::path> find_valid_checkpoint(
    const std::filesystem::path& checkpoints, const Log& log,
    const std::function<bool(std::int64_t step)>& log_holds = {}, std::int64_t at_most = kAnyStep);

struct BestCheckpointOptions {
  std::string keep_best;  // a metric; empty: no checkpoint is kept as the best
};
void describe(FieldList& fields, BestCheckpointOptions& options);

/// Throws Error unless `metric`, which `key` names, is empty or one of `given`, the metrics that
/// evaluations give.
void check_metric(std::string_view key, const std::string& metric,
                  std::span<const std::string> given);

/// Returns the step with the greatest value of the metric in metrics.jsonl, among the steps that
/// have a checkpoint; the earliest of equal ones. Returns empty if no such step has the metric. The
/// best checkpoint is never removed, so its step is not stored elsewhere.
std::optional<std::int64_t> best_saved_step(const std::filesystem::path& run_directory,
                                            const std::string& metric);

}  // namespace lie
