// Finds the checkpoint from which a run can resume, and detects damaged ones (invariant E10).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace lie
