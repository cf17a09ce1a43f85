// One SHA-256 over all trajectories of a run: two runs are the same run if and only if it agrees
// (and the one over the weights does).
#pragma once

#include <string>

#include "common/trajectory/run_reader.h"

namespace lie {

/// 64 hexadecimal digits. Independent of segments, learner count, ranks and times.
///
/// Hashed, in canonical order (purpose, step, group, sample), little-endian, floats by their bits:
///   the text "lie trajectories 1"; the names of the further numbers, each with its length;
///   for each group with a response: purpose, step, group, problem row, and (each with
///   its length as int64 before it) prompt text, gold, data source, prompt ids;
///   for each response: sample, the other columns of /sample except offsets, actor_rank,
///   reward_rank and verify_seconds, in the order of schema.h, with the reward terms in the run's
///   order before their sum and the further numbers behind all; extracted answer, token ids,
///   behavior log-probs and learner log-probs, each with its length before it; where weights change
///   in flight, the runs of versions, each its version and tokens as int64, likewise.
std::string trajectories_digest(const RunReader& run);

}  // namespace lie
