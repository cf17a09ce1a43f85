// Appends the steps of a run to its trajectory file.
#pragma once

#include <filesystem>
#include <memory>

#include "common/trajectory/record.h"

namespace lie {

/// A segment that is being written. Other processes may read it meanwhile (SWMR). The file becomes
/// visible in the directory complete with all its columns, and a step becomes visible when append()
/// returns. A process killed at any moment leaves a readable file. Not thread-safe.
class TrajectoryWriter {
 public:
  /// Creates `directory`/segment_name(learner_rank, starts_after_step). Throws Error if the file
  /// exists or the directory does not.
  TrajectoryWriter(const std::filesystem::path& directory, const TrajectoryInfo& info);
  ~TrajectoryWriter();  // closes the file and ignores errors: call close()
  TrajectoryWriter(const TrajectoryWriter&) = delete;
  TrajectoryWriter& operator=(const TrajectoryWriter&) = delete;

  /// Writes one step and hands it to the operating system. Throws Error unless steps ascend and
  /// sizes within each group agree. All learners append the same steps, without groups if they have
  /// none.
  void append(const StepRecord& record);

  /// Ends the segment: all data are on disk (fsync), and any HDF5 program can read the file.
  void close();

  const std::filesystem::path& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lie
