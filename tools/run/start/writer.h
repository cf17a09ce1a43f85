// Becoming the one writer of a run's directory (invariant E9).
#pragma once

#include <filesystem>
#include <string_view>

#include "common/comm/job.h"

namespace lie {

/// Locks a directory or output file until the whole job has ended, well or badly; see
/// common/process/writer_lock.h. Rank 0 calls it before touching anything there. Logs when it takes
/// over from a dead process. Throws Error naming the holder if another has it.
void become_writer(Job& job, const std::filesystem::path& guarded, std::string_view command);

}  // namespace lie
