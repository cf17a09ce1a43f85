// A file of the schema being written: creation with all columns, appending to a column, flushing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/trajectory/hdf5.h"
#include "common/trajectory/reader.h"
#include "common/trajectory/record.h"
#include "common/trajectory/schema.h"

namespace lie {

/// Owns the file and its open columns.
class ColumnFile {
 public:
  /// Creates the file, or replaces one, with all columns of a run. Other processes may not read it
  /// yet.
  ColumnFile(const std::filesystem::path& path, const TrajectoryInfo& info);

  /// From here on other processes may read it while it is written. Takes the name `path`, under
  /// which an incomplete file is therefore never seen.
  void appear_as(const std::filesystem::path& path);

  template <typename T>
  void append(const schema::Column<T>& column, std::span<const T> values) {
    append_bytes(column.path, std::as_bytes(values));
  }
  /// Rows of the column at `path`, as bytes in this machine's order.
  void append_bytes(std::string_view path, std::span<const std::byte> rows);
  /// Rows [range] of the same column of another file.
  void append_rows(const SegmentReader& from, const schema::ColumnInfo& column, RowRange range);
  /// Hands all appended rows to the operating system. Readers see later rows only after these. (One
  /// flush of the file costs as much as one of a single column.)
  void flush();
  /// Closes and fsyncs. Throws Error on failure.
  void close();

  bool is_open() const { return static_cast<bool>(file_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  struct OpenColumn {
    std::string path;
    hid_t type;  // of its elements in memory
    h5::Handle dataset;
    std::uint64_t rows = 0;
  };
  void create_column(const schema::ColumnInfo& column);

  std::filesystem::path path_;
  h5::Handle file_;
  std::vector<OpenColumn> columns_;
};

}  // namespace lie
