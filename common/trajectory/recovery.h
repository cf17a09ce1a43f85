// What a run that goes on makes of the log that it finds.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/log.h"

namespace lie {

/// Readies the log for a run that goes on from the checkpoint of `step`; returns the last step L
/// such that all steps from step + 1 to L are complete in the files of all learners and readable,
/// or `step`. Afterwards the files hold nothing of later steps, all are closed, and the next
/// segment starts after L, and the index (segment_index.h) lists them. Segments before the
/// checkpoint's are opened only if the index lacks them. Damaged ones are renamed to
/// ....h5.damaged, and those with complete steps that do not follow on L to ....h5.gap, with a
/// warning each. Killed at any moment and called again it gives the same. For the directory's
/// writer only.
std::int64_t recover_log(const std::filesystem::path& directory, std::int64_t step, const Log& log);

}  // namespace lie
