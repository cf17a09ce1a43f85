// A trajectory file that is being written: create it with all columns, append to columns, flush.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/trajectory/hdf5.h"
#include "common/trajectory/record.h"
#include "common/trajectory/schema.h"

namespace lie {

/// A file and its open columns, which it owns.
class ColumnFile {
 public:
  /// Creates or replaces the file, with all columns of a run. Other processes may not read it yet.
  ColumnFile(const std::filesystem::path& path, const TrajectoryInfo& info);

  /// Renames the file to `path` and lets other processes read it while it is written. An incomplete
  /// file is therefore never visible under this name.
  void appear_as(const std::filesystem::path& path);

  template <typename T>
  void append(const schema::Column<T>& column, std::span<const T> values) {
    append_bytes(column.path, std::as_bytes(values));
  }
  /// Appends rows to the column at `path`. They are bytes in this machine's byte order.
  void append_bytes(std::string_view path, std::span<const std::byte> rows);
  /// Hands all appended rows to the operating system. Readers see rows appended later only after
  /// these rows. (Flushing the file costs as much as flushing a single column.)
  void flush();
  /// Closes the file and calls fsync. Throws Error on failure.
  void close();

  bool is_open() const { return static_cast<bool>(file_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  struct OpenColumn {
    std::string path;
    hid_t type;  // type of its elements in memory
    h5::Handle dataset;
    std::uint64_t rows = 0;
  };
  void create_column(const schema::ColumnInfo& column);

  std::filesystem::path path_;
  h5::Handle file_;
  std::vector<OpenColumn> columns_;
};

}  // namespace lie
