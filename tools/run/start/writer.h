// Makes a job the only writer of a run directory (invariant E9).
#pragma once

#include <filesystem>
#include <string_view>

#include "common/comm/job.h"

namespace lie {

/// Locks a directory or output file until the whole job has ended, whether it succeeds or fails;
/// see common/process/writer_lock.h. Rank 0 calls it before writing anything there. Logs if the
/// lock belonged to a process that died. Throws Error naming the holder if another process has it.
void become_writer(Job& job, const std::filesystem::path& guarded, std::string_view command);

}  // namespace lie
