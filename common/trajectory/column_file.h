// A file of the schema being written: creation with all columns, appending to a column, flushing.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/trajectory/hdf5.h"
#include "common/trajectory/record.h"
#include "common/trajectory/schema.h"

namespace lie {

/// Owns the file and its open columns. Created beside its final name and renamed once other
/// processes may read it, so that a half-made file is never seen.
class ColumnFile {
 public:
  ColumnFile(const std::filesystem::path& path, const TrajectoryInfo& info);

  template <typename T>
  void append(const schema::Column<T>& column, std::span<const T> values) {
    append_raw(column, values.data(), values.size());
  }
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
    h5::Handle dataset;
    std::uint64_t rows = 0;
  };
  void append_raw(const schema::ColumnInfo& column, const void* values, std::uint64_t count);
  void create_columns(const TrajectoryInfo& info);
  void create_column(const schema::ColumnInfo& column);

  std::filesystem::path path_;
  h5::Handle file_;
  std::vector<OpenColumn> columns_;
};

}  // namespace lie
