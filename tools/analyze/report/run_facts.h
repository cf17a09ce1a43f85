// The facts of a run that its curves do not show: where and when it ran, by which build and how it
// ended; and how many tokens and hours each step had behind it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "common/io/json.h"
#include "tools/analyze/run.h"

namespace lie::analyze {

/// Returns "2026-11-28 09:45 UTC" for seconds since the epoch.
std::string day(double seconds);

/// Returns the starts of a run, oldest first:
///
///   [{command, host, build_id, slurm_job, begun: text, ranks, seconds, status}]
///
/// `seconds` is the duration and `status` the exit status; null if the end is not recorded, as of a
/// killed job. A start in progress lasts up to its last step. Of a run without starts.jsonl, which
/// an older build made, there is one start: its metrics say when it began and how long its steps
/// took, its trajectories which build began it; host and ranks are null.
Json starts_of(const Run& run);

/// Returns {tokens: [[step, tokens]], hours: [[step, hours]]}: the tokens generated and the hours
/// worked up to the end of each step. Hours are sums of step_seconds, without the pauses between
/// starts. Of several runs they are means. A list is empty if some step of a run lacks the values.
/// With a grid only its steps are listed; the page interpolates between them.
Json progress_of(const Subject& subject, std::span<const std::int64_t> grid);

}  // namespace lie::analyze
