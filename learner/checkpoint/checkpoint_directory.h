// The checkpoints in the directory of a run, by step: their names, the latest one, and the removal
// of old ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>

namespace lie {

/// Removes all checkpoints but the last `keep_last` and that of step `best`. 0: removes none.
void remove_old_checkpoints(const std::filesystem::path& checkpoints, std::int64_t keep_last,
                            std::optional<std::int64_t> best = {});

/// Returns 50 for "step-000050"; empty for any other name.
std::optional<std::int64_t> checkpoint_step(std::string_view name);

std::filesystem::path checkpoint_path(const std::filesystem::path& checkpoints, std::int64_t step);

constexpr std::int64_t kAnyStep = std::numeric_limits<std::int64_t>::max();

/// Returns the complete checkpoint of the highest step that is not above `at_most`; empty if there
/// is none.
std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& checkpoints,
                                                       std::int64_t at_most = kAnyStep);

/// Removes a checkpoint. A crash at any moment leaves it complete or absent.
void remove_checkpoint(const std::filesystem::path& checkpoint);

/// Removes what crashes left of checkpoints that were being written or removed.
void remove_leftovers(const std::filesystem::path& checkpoints);

}  // namespace lie
