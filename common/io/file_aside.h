// A file that is written beside its place.
#pragma once

#include <filesystem>

namespace lie {

/// Throws Error where no file can be written to: a directory, or a path in none. To be asked before
/// hours of work.
void check_place(const std::filesystem::path& place);

/// Write to at(); publish() moves the whole file to its place, durably. Without it nothing is left.
/// A link keeps pointing to its file, which is replaced; a device or a pipe is written to itself.
/// Throws Error as check_place() does.
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
