// The file names in a run's trajectory directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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

}  // namespace lie
