// One SHA-256 over all trajectories of a run. Two runs are identical if and only if these digests
// and those of the weights are equal.
#pragma once

#include <string>

#include "common/trajectory/run_reader.h"

namespace lie {

/// Returns 64 hexadecimal digits. They do not depend on segments, learner count, ranks and times.
///
/// The hash covers these items in canonical order (purpose, step, group, sample), little-endian,
/// floats by their bits. Each text and sequence follows its length as int64.
/// - The text "lie trajectories 1" without length, then the names of the further numbers.
/// - For each group with a response: purpose, step, group, problem row, prompt text, gold, data
///   source, prompt ids.
/// - For each response: sample, then the other columns of /sample in the order of schema.h, except
///   offsets, actor_rank, reward_rank and verify_seconds. The reward terms, in the run's order,
///   precede their sum, and the further numbers come last. Then extracted answer, token ids,
///   behavior log-probs and learner log-probs.
/// - For each response, if weights change in flight: the runs of versions, each with its version
///   and tokens as int64.
std::string trajectories_digest(const RunReader& run);

}  // namespace lie
