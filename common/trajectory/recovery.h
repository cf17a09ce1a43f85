// What a run that goes on makes of the log that it finds.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/process/log.h"

namespace lie {

/// Readies the log for a run that goes on from the checkpoint of `step`; returns the last step L
/// such that all steps from step + 1 to L are complete in the files of all learners and readable,
/// or `step`. Afterwards the files hold nothing of later steps, all are closed, the index
/// (segment_index.h) lists them, and the next segment may start after L. Segments before the
/// checkpoint's are opened only if the index lacks them. Damaged ones are renamed to
/// ....h5.damaged, and those with complete steps that do not follow on L to ....h5.gap, with a
/// warning each. Killed at any moment and called again it gives the same. For the directory's
/// writer only. Throws Error naming a file of another schema version.
std::int64_t recover_log(const std::filesystem::path& directory, std::int64_t step, const Log& log);

}  // namespace lie
