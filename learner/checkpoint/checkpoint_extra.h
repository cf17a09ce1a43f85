// State of other folders that is saved with a checkpoint, such as the run's coverage.
#pragma once

#include <filesystem>
#include <memory>

namespace lie {

class CheckpointExtra {
 public:
  virtual ~CheckpointExtra() = default;
  /// Returns a copy of what save() writes now. A checkpoint is saved from it in the background.
  virtual std::unique_ptr<CheckpointExtra> copy() const = 0;
  /// Writes files into the directory of a checkpoint. Throws Error naming the file.
  virtual void save(const std::filesystem::path& checkpoint) const = 0;
};

}  // namespace lie
