// A limited number of trajectory files that are open for reading.
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

/// Opens files and columns on demand. A long run has more segments than a process may have open
/// files. Not thread-safe.
class OpenFiles {
 public:
  /// Keeps at most `limit` files open, the most recently used.
  explicit OpenFiles(std::size_t limit = default_limit()) : limit_(limit) {}

  /// Return identifiers that are valid until the next call. Throw Error naming what cannot be
  /// opened.
  hid_t file(const std::filesystem::path& path) { return open(path).file.id(); }
  hid_t column(const std::filesystem::path& path, const schema::ColumnInfo& column);

  /// Returns a quarter of the number of files that the process may open, at most 64. Each open file
  /// takes about a megabyte of memory.
  static std::size_t default_limit();

 private:
  struct File {
    std::filesystem::path path;
    h5::Handle file;
    std::map<std::string, h5::Handle, std::less<>> columns;  // opened so far, by path
  };
  File& open(const std::filesystem::path& path);

  std::size_t limit_;
  std::list<File> files_;  // most recently used first
};

}  // namespace lie
