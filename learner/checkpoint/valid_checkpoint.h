// Detects bit rot (invariant E10): from which checkpoint a run can resume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/process/log.h"
#include "learner/checkpoint/checkpoint.h"

namespace lie {

/// The damaged, truncated or missing files of a checkpoint, a phrase each. Reads all of it.
/// Checkpoints written without checksums have no faults.
std::vector<std::string> checkpoint_faults(const std::filesystem::path& checkpoint);

/// The last sound checkpoint, of step `at_most` or before. Damaged ones after it are renamed to
/// step-NNNNNN.damaged, with a warning each; readers ignore that name and nothing removes it. One
/// without checksums is accepted with a warning. Empty if there was never one, or if all are
/// damaged and `log_holds` says of the last one's step that the run's log can stand in for it: then
/// with a warning. Throws Error if all are damaged otherwise. For the directory's writer only.
std::optional<std::filesystem::path> valid_checkpoint(
    const std::filesystem::path& checkpoints, const Log& log,
    const std::function<bool(std::int64_t step)>& log_holds = {}, std::int64_t at_most = kAnyStep);

/// What valid_checkpoint would return, or the Error that it would throw; renames nothing. For
/// anyone.
std::optional<std::filesystem::path> find_valid_checkpoint(
    const std::filesystem::path& checkpoints, const Log& log,
    const std::function<bool(std::int64_t step)>& log_holds = {}, std::int64_t at_most = kAnyStep);

}  // namespace lie
