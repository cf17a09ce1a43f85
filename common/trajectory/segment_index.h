// trajectories/index.jsonl, the list of segments that a run has written. With it a missing or
// truncated segment is detected, and its steps are named, without opening any file. Each line is:
//   {"file":"learner-000-segment-000050.h5","learner":0,"learners":2,"first_step":51,
//    "last_step":100,"bytes":81234,"removed":false,"crc32c":2774631942}
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/process/log.h"

namespace lie {

/// One line of the index: a closed segment.
struct IndexedSegment {
  std::string file;
  std::int64_t learner = 0, learners = 1;
  std::int64_t first_step = 0, last_step = 0;  // that the segment holds
  std::int64_t bytes = 0;
  bool removed = false;  // on purpose, by remove_segments_up_to
};
using SegmentIndex = std::vector<IndexedSegment>;

/// Returns the index. It is empty if there is no index file, as in runs of older builds. Throws
/// Error naming file and line if it is damaged.
SegmentIndex read_index(const std::filesystem::path& directory);
/// Returns the index. A damaged index file is renamed with a warning, and the result is then empty.
SegmentIndex usable_index(const std::filesystem::path& directory, const Log& log);

/// Returns whether the segment's file exists with the listed size.
bool is_there(const std::filesystem::path& directory, const IndexedSegment& segment);

/// First removes the steps after `step` from the index, then adds the closed segments that the
/// index lacks. Existing files that hold later steps are thus read again. Only the writer of the
/// directory may call this and remove_segments_up_to().
void update_index(const std::filesystem::path& directory, std::int64_t step);

/// Removes the segments that hold no step after `last`. The index marks them as removed, so readers
/// do not report them as missing.
void remove_segments_up_to(const std::filesystem::path& directory, std::int64_t last);

}  // namespace lie
