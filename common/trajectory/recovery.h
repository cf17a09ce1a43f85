// Prepares the trajectory log of a resumed run.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/process/log.h"

namespace lie {

/// Prepares the log for a run that resumes from the checkpoint of `step`. Returns the last step L
/// such that the log holds all steps from step + 1 to L, or `step`. All learners must have
/// completed them in readable files.
///
/// Afterward the files hold no later steps, all are closed, the index (segments.h) lists them,
/// and the next segment may start after L. Segments before the checkpoint's are opened only if the
/// index lacks them. Damaged segments are renamed to ....h5.damaged. Segments with complete steps
/// that do not directly follow L are renamed to ....h5.gap. Each renaming logs a warning.
///
/// If it is killed at any moment and called again, the result is the same. Only the writer of the
/// directory may call it. Throws Error naming a file of another schema version.
std::int64_t recover_log(const std::filesystem::path& directory, std::int64_t step, const Log& log);

}  // namespace lie
