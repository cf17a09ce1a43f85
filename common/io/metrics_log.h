// metrics.jsonl: one flat JSON object per step, with a checksum (common/io/crc32c.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/io/output_file.h"

namespace lie {

/// The metrics of a step by name, in the order of writing. Non-finite values are written as null.
struct MetricsRow {
  std::int64_t step = 0;
  double wall_time = 0;  // seconds since the epoch
  std::vector<std::pair<std::string, double>> values;

  std::optional<double> find(std::string_view name) const;
  double value_or_zero(std::string_view name) const { return find(name).value_or(0); }
};

/// Appends rows. Each row has reached the operating system when append() returns.
class MetricsLog {
 public:
  /// Creates the file with `rows`, or replaces its content by them.
  MetricsLog(const std::filesystem::path& path, std::span<const MetricsRow> rows);
  void append(const MetricsRow& row);
  bool holds(std::int64_t step) const { return steps_.contains(step); }

 private:
  std::set<std::int64_t> steps_;
  std::optional<OutputFile> file_;
};

/// The content of a metrics file.
struct MetricsFile {
  std::vector<MetricsRow> rows;
  std::vector<std::string> damage;  // a sentence with file and line number per damaged line
  bool checked = false;             // whether the lines have checksums
};

/// Reads the valid rows, in the order of their steps, with the present names of metrics. An
/// incomplete last line was left by a killed process and is not damage. A missing file has no rows.
MetricsFile read_valid_metrics(const std::filesystem::path& path);

/// Returns the steps of the valid rows.
std::set<std::int64_t> steps_with_metrics(const std::filesystem::path& path);

/// Reads the valid rows before the file is replaced. A damaged file is copied to PATH.damaged, or
/// PATH.damaged-2 and so on if that name exists.
MetricsFile metrics_to_continue(const std::filesystem::path& path);

/// Removes the rows of steps after `last_step`, which a killed process left.
void drop_after(std::int64_t last_step, std::vector<MetricsRow>& rows);

/// Returns all complete rows of a metrics file. Throws Error with file and line of a row that is
/// not a flat object with a step or does not match its checksum.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

}  // namespace lie
