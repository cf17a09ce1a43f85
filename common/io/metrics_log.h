// metrics.jsonl: one flat JSON object per step, with a checksum (common/io/line_checksum.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lie {

/// The metrics of a step by name, in the order of writing. Non-finite values are written as null.
struct MetricsRow {
  std::int64_t step = 0;
  double wall_time = 0;  // seconds since the epoch
  std::vector<std::pair<std::string, double>> values;

  std::optional<double> find(std::string_view name) const;
  double value_or_zero(std::string_view name) const { return find(name).value_or(0); }
};

/// Returns the complete rows of steps up to `last_step`, or none if the file is missing. Throws
/// Error like read_metrics().
std::vector<MetricsRow> rows_up_to(const std::filesystem::path& path, std::int64_t last_step);

/// Appends rows. Each row has reached the operating system when append() returns.
class MetricsLog {
 public:
  /// Opens the file. Keeps the rows of steps up to `last_step`, which a resumed run continues, and
  /// drops later rows and a line that a killed process left incomplete.
  MetricsLog(std::filesystem::path path, std::int64_t last_step);
  /// Opens the file and replaces its content by `rows`, which rows_up_to() has read.
  MetricsLog(std::filesystem::path path, std::span<const MetricsRow> rows);
  void append(const MetricsRow& row);
  bool holds(std::int64_t step) const { return steps_.contains(step); }

 private:
  std::filesystem::path path_;
  std::set<std::int64_t> steps_;
  std::ofstream file_;
};

/// The content of a metrics file.
struct MetricsFile {
  std::vector<MetricsRow> rows;
  std::vector<std::string> damage;  // a sentence with file and line number per damaged line
  bool checked = false;             // whether the lines have checksums
};

/// Reads the valid rows. An incomplete last line was left by a killed process and is not damage.
MetricsFile read_valid_metrics(const std::filesystem::path& path);

/// Returns all complete rows of a metrics file. Throws Error with file and line of a row that is
/// not a flat object with a step or does not match its checksum.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

}  // namespace lie
