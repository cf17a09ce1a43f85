// The trajectory files of a run: their names, their states, and their list
// trajectories/index.jsonl. With the list a missing or truncated segment is detected, and its steps
// are named, without opening any file. Each of its lines is:
//   {"file":"learner-000-segment-000050.h5","learner":0,"learners":2,"first_step":51,
//    "last_step":100,"bytes":81234,"removed":false,"crc32c":2774631942}
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/process/log.h"

namespace lie {

/// One trajectory file, as described by its name.
struct Segment {
  std::filesystem::path path;
  std::int64_t learner_rank = 0, starts_after_step = 0;
};

/// Returns for example "learner-000-segment-000050.h5": learner 0, the steps after step 50 up to
/// the start of the next segment.
std::string segment_name(std::int64_t learner_rank, std::int64_t starts_after_step);

/// Returns the trajectory files in `directory`, sorted by start step and learner. Other files are
/// ignored. A missing directory has none.
std::vector<Segment> segments(const std::filesystem::path& directory);

/// Returns the files that may hold steps after `step`. A segment ends where a later one starts.
std::vector<Segment> segments_after(const std::filesystem::path& directory, std::int64_t step);

/// Return the name of a segment that is being created, and remove those that were never completed.
std::filesystem::path unfinished_name(const std::filesystem::path& segment);
void remove_unfinished(const std::filesystem::path& directory);

/// Removes all segments, complete or not.
void remove_segments(const std::filesystem::path& directory);

/// Returns whether the file was closed by its writer or was repaired.
bool is_closed(const std::filesystem::path& path);

/// Repairs a file whose writer was killed, so that any HDF5 program can open it. It clears the mark
/// of an active writer and sets the end of the file. It has no effect on a file that was closed
/// properly. Never call it while a writer has the file open. Throws Error if the file cannot be
/// read.
void clear_after_crash(const std::filesystem::path& path);

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

/// Returns a sentence for each segment that the index lists and whose file does not exist, or one
/// on a damaged index.
std::vector<std::string> missing_segments(const std::filesystem::path& directory);

/// The steps from `first` to `last`.
struct StepRange {
  std::int64_t first = 0, last = 0;
};

/// Returns the steps after `after` up to `last` that no file holds, if `held` are those of the
/// files, and that no line of the index names: a file was lost together with its line.
std::vector<StepRange> unlisted_steps(std::set<std::int64_t> held, const SegmentIndex& index,
                                      std::int64_t after, std::int64_t last);

/// First removes the steps after `step` from the index, then adds the closed segments that the
/// index lacks. Existing files that hold later steps are thus read again. Only the writer of the
/// directory may call this and remove_segments_up_to().
void update_index(const std::filesystem::path& directory, std::int64_t step);

/// Removes the segments that hold no step after `last`. The index marks them as removed, so readers
/// do not report them as missing.
void remove_segments_up_to(const std::filesystem::path& directory, std::int64_t last);

}  // namespace lie
