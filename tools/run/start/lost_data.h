// What a resumed run has lost: metrics and trajectories of steps that it has completed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/process/log.h"

namespace lie {

/// Returns one sentence for each loss: for metrics.jsonl and trajectories/ if they lack any of the
/// training steps `first` to `last`, and for each segment that is missing or differs from its line
/// in the index. Opens no segment. The run can continue without the lost data.
std::vector<std::string> lost_data(const std::filesystem::path& run_directory, std::int64_t first,
                                   std::int64_t last);

/// Returns whether the trajectories of all steps from 1 to `step` exist, according to the index and
/// the file sizes. Only the writer of the directory may call it.
bool log_holds_all_up_to(std::int64_t step, const std::filesystem::path& run_directory,
                         const Log& log);

}  // namespace lie
