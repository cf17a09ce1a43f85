// What a resumed run has lost of its past.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/process/log.h"

namespace lie {

/// A sentence each for metrics.jsonl and trajectories/ of a run, if they lack any of the training
/// steps `first` to `last`, and for each segment that is not as its index says. Opens no segment.
/// The run can continue without them.
std::vector<std::string> missing_parts(const std::filesystem::path& run_directory,
                                       std::int64_t first, std::int64_t last);

/// Whether the trajectories of all steps from 1 to `step` are there, by index and sizes. For the
/// directory's writer only.
bool log_holds_all_up_to(std::int64_t step, const std::filesystem::path& run_directory,
                         const Log& log);

}  // namespace lie
