// Trajectory files held open for reading, few at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <string>

#include "common/trajectory/hdf5.h"
#include "common/trajectory/schema.h"

namespace lie {

/// Opens files and columns when they are needed; a long run has more segments than a process may
/// have open files. One thread.
class OpenFiles {
 public:
  /// At most `limit` files are open, the last used.
  explicit OpenFiles(std::size_t limit = default_limit()) : limit_(limit) {}

  /// Both are valid until the next call. Throw Error naming what cannot be opened.
  hid_t file(const std::filesystem::path& path) { return open(path).file.id(); }
  hid_t column(const std::filesystem::path& path, const schema::ColumnInfo& column);

  /// A quarter of the files that the process may open, and no more than 64: each takes about a
  /// megabyte of memory.
  static std::size_t default_limit();

 private:
  struct File {
    std::filesystem::path path;
    h5::Handle file;
    std::map<std::string, h5::Handle, std::less<>> columns;  // by path, opened so far
  };
  File& open(const std::filesystem::path& path);

  std::size_t limit_;
  std::list<File> files_;  // the last used first
};

}  // namespace lie
