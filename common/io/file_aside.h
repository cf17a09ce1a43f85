// A file that is written under a temporary name next to its final path.
#pragma once

#include <filesystem>

namespace lie {

/// Throws Error if no file can be written at `place`: it is a directory, or its parent does not
/// exist. Call this before long computations whose result is written there.
void check_place(const std::filesystem::path& place);

/// The constructor creates the temporary file anew. Callers write to at(), then publish() renames
/// the complete file to its final path, durably. Without publish() the destructor removes the
/// temporary file. For a symbolic link the target is replaced. A device or pipe is written
/// directly. Throws Error like check_place().
class FileAside {
 public:
  explicit FileAside(std::filesystem::path place);
  ~FileAside();
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;

  const std::filesystem::path& place() const { return place_; }
  const std::filesystem::path& at() const { return at_; }
  void publish();

 private:
  std::filesystem::path place_, at_;
};

}  // namespace lie
