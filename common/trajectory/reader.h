// Reads one trajectory file, even while it is being written or after its writer was killed, and
// detects its damage (invariant E10).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/trajectory/record.h"
#include "common/trajectory/schema.h"

namespace lie {

struct RowRange {
  std::int64_t first = 0, count = 0;
};

namespace h5 {
class OpenFiles;
}

/// The steps of one segment that were complete when it was opened. Columns are read on demand, and
/// reading one column does not read the data of others. Not thread-safe.
class SegmentReader {
 public:
  /// Opens the file in `files`, which readers of many segments share. With null `files` the reader
  /// keeps its file open itself. Throws Error naming the file if it is damaged or is not a
  /// trajectory file of schema version 2.
  explicit SegmentReader(const std::filesystem::path& path,
                         std::shared_ptr<h5::OpenFiles> files = nullptr);
  SegmentReader(SegmentReader&&) noexcept = default;
  SegmentReader& operator=(SegmentReader&&) noexcept = default;

  const std::filesystem::path& path() const { return path_; }
  const TrajectoryInfo& info() const { return info_; }
  /// Returns the numbers of the complete steps, ascending.
  const std::vector<std::int64_t>& steps() const { return steps_; }
  /// Returns the number of rows of a table that belong to complete steps.
  std::int64_t rows(schema::Table table) const;
  /// Returns the rows of a table that belong to steps()[index].
  RowRange rows_of_step(schema::Table table, std::size_t index) const;

  /// Returns whether the file has a column. Some columns are in all files, others depend on the
  /// run.
  bool has(const schema::ColumnInfo& column) const;

  template <typename T>
  std::vector<T> read(const schema::Column<T>& column) const {
    return read(column, 0, rows(column.table));
  }
  /// Returns rows [first, first + count). Throws Error if they do not exist or cannot be read.
  template <typename T>
  std::vector<T> read(const schema::Column<T>& column, std::int64_t first,
                      std::int64_t count) const {
    check_range(column, {first, count});
    std::vector<T> values(static_cast<std::size_t>(count));
    read_raw(column, {first, count}, values.data());
    return values;
  }
  /// Returns such rows as bytes, in this machine's byte order.
  std::vector<std::byte> read_bytes(const schema::ColumnInfo& column, RowRange range) const;
  /// Returns whether no column has rows after the last complete step.
  bool ends_with_a_step() const;
  /// Returns a string of /text/bytes.
  std::string text(std::int64_t offset, std::int32_t count) const;

 private:
  /// The number of rows of a table up to the end of each step.
  using Ends = std::vector<std::int64_t>;
  Ends& ends_of(schema::Table table) { return ends_[static_cast<std::size_t>(table)]; }
  const Ends& ends_of(schema::Table table) const { return ends_[static_cast<std::size_t>(table)]; }
  void read_ends();
  void check_range(const schema::ColumnInfo& column, RowRange range) const;
  void read_raw(const schema::ColumnInfo& column, RowRange range, void* values) const;

  std::filesystem::path path_;
  std::shared_ptr<h5::OpenFiles> files_;
  TrajectoryInfo info_;
  std::vector<std::int64_t> steps_;
  std::array<Ends, schema::kTableCount> ends_;  // by table
};

/// Returns whether a file is readable but of another schema version.
bool is_of_another_version(const std::filesystem::path& path);

struct SegmentDamage {
  std::string fault;  // message of the first fault with file, rows and column; empty: intact
  std::set<std::string> columns;  // columns that cannot be read
  std::set<std::int64_t> steps;   // steps with data that cannot be read
};

/// Reads every column of every complete step, one step of a column at a time, and returns the
/// damage.
SegmentDamage damage_of(const SegmentReader& file);

}  // namespace lie
