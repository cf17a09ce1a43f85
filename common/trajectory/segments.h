// The files of a run's trajectory directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lie {

/// One trajectory file, by its name.
struct Segment {
  std::filesystem::path path;
  std::int64_t learner_rank = 0, starts_after_step = 0;
};

/// "learner-000-segment-000050.h5": learner 0, the steps after step 50 up to the next segment's
/// start.
std::string segment_name(std::int64_t learner_rank, std::int64_t starts_after_step);

/// The trajectory files in `directory`, by start step and learner. Other files are left out; a
/// missing directory has none.
std::vector<Segment> segments(const std::filesystem::path& directory);

/// Those of them that may hold steps after `step`: a segment ends where a later one starts.
std::vector<Segment> segments_after(const std::filesystem::path& directory, std::int64_t step);

/// The name of a segment that is being made, and the removal of those that never got ready.
std::filesystem::path unfinished_name(const std::filesystem::path& segment);
void remove_unfinished(const std::filesystem::path& directory);

/// Removes a file if it is there. Throws Error if it cannot.
void remove_file(const std::filesystem::path& path);

/// Removes a directory's trajectory files.
void remove_segments(const std::filesystem::path& directory);

/// Whether the file's writer closed it, or it was repaired.
bool is_closed(const std::filesystem::path& path);

/// Repairs a file whose writer was killed, so that any HDF5 program opens it: clears the mark of an
/// active writer and sets the end of the file. Harmless on a file that was closed properly. Never
/// call it while a writer has the file open. Throws Error if the file cannot be read.
void clear_after_crash(const std::filesystem::path& path);

}  // namespace lie
