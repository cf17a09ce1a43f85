// Files that are written: piece by piece, and under a temporary name next to their final path.
#pragma once

#include <filesystem>
#include <string_view>

#include "common/io/descriptor.h"

namespace lie {

/// Writes to a file without a buffer: what write() was given has reached the operating system when
/// the call returns. Every failure is an Error with the file's name and the system's message.
class OutputFile {
 public:
  enum class Begin { kEmpty, kAtEnd };

  /// Creates the file if it is missing. kEmpty truncates it; kAtEnd appends to what it holds.
  OutputFile(std::filesystem::path path, Begin begin);
  void write(std::string_view bytes);
  void close();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

/// Throws Error if no file can be written at `place`: it is a directory, or its parent does not
/// exist. Call this before long computations whose result is written there.
void check_place(const std::filesystem::path& place);

/// A file that is written under a temporary name. The constructor creates the temporary file,
/// callers write to at(), and publish() durably renames it to its final path. Without publish() the
/// destructor removes it. If the path is a symbolic link, its target is replaced. A device or pipe
/// is written directly. Throws Error like check_place().
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
