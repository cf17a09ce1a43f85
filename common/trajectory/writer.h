// Appends a run's steps to its trajectory file.
#pragma once

#include <filesystem>
#include <memory>

#include "common/trajectory/record.h"

namespace lie {

/// One segment being written. Other processes may read it meanwhile (SWMR): the file appears in the
/// directory complete with all its columns, and they see a step when append() returns. Killed at
/// any moment it leaves a file that stays readable. One thread.
class TrajectoryWriter {
 public:
  /// Creates `directory`/segment_name(learner_rank, starts_after_step). Throws Error if it exists,
  /// or if the directory does not.
  TrajectoryWriter(const std::filesystem::path& directory, const TrajectoryInfo& info);
  ~TrajectoryWriter();  // closes; errors are lost: call close()
  TrajectoryWriter(const TrajectoryWriter&) = delete;
  TrajectoryWriter& operator=(const TrajectoryWriter&) = delete;

  /// Writes one step and hands it to the operating system. Steps must ascend, and sizes within each
  /// group agree, else Error. All learners append the same steps (with no groups if they have
  /// none).
  void append(const StepRecord& record);

  /// Ends the segment: everything on disk (fsync), readable by any HDF5 program.
  void close();

  const std::filesystem::path& path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lie
