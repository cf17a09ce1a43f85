// trajectories/index.jsonl: which segments a run has written, so that one that is missing or cut
// short is noticed, and its steps named, without opening any. A line each:
//   {"file":"learner-000-segment-000050.h5","learner":0,"learners":2,"first_step":51,
//    "last_step":100,"bytes":81234,"removed":false,"crc32c":2774631942}
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/process/log.h"

namespace lie {

/// A closed segment.
struct IndexedSegment {
  std::string file;
  std::int64_t learner = 0, learners = 1;
  std::int64_t first_step = 0, last_step = 0;  // that it holds
  std::int64_t bytes = 0;
  bool removed = false;  // on purpose: remove_segments_up_to
};
using SegmentIndex = std::vector<IndexedSegment>;

/// As written last; empty if there is none, as in runs of older builds. Throws Error naming file
/// and line if it is damaged.
SegmentIndex read_index(const std::filesystem::path& directory);
/// The same, but a damaged index counts as none and is renamed out of the way, with a warning.
SegmentIndex usable_index(const std::filesystem::path& directory, const Log& log);

/// Whether the file is there with its size.
bool is_there(const std::filesystem::path& directory, const IndexedSegment& segment);

/// Adds the closed segments that the index lacks, after forgetting the steps after `step`: files
/// that hold any are looked at again. This and the next are for the directory's writer only.
void update_index(const std::filesystem::path& directory, std::int64_t step);

/// Removes the segments that hold no step after `last`, and notes it: nothing misses them then.
void remove_segments_up_to(const std::filesystem::path& directory, std::int64_t last);

}  // namespace lie
