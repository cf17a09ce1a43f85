// Bit rot is noticed (invariant E10): which checkpoint of a run can be gone on from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/log.h"

namespace lie {

/// What of a checkpoint is not as it was written, a phrase each: damaged, cut short or missing
/// files. Reads all of it. Checkpoints that were written without checksums have no faults.
std::vector<std::string> checkpoint_faults(const std::filesystem::path& checkpoint);

/// The last sound checkpoint. Damaged ones behind it are renamed to step-NNNNNN.damaged, which no
/// reader takes for a checkpoint and nothing removes, with a warning each; one without checksums is
/// taken with a warning. Empty if there was never one. Throws Error if all are damaged. For the
/// writer of the directory alone.
std::optional<std::filesystem::path> sound_checkpoint(const std::filesystem::path& checkpoints,
                                                      const Log& log);

}  // namespace lie
