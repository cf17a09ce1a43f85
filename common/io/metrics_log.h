// metrics.jsonl: one flat JSON object a step, with a checksum: common/io/line_checksum.h.
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

/// A step's quantities by name, in the order they are written. Non-finite values are written as
/// null.
struct MetricsRow {
  std::int64_t step = 0;
  double wall_time = 0;  // seconds since the epoch
  std::vector<std::pair<std::string, double>> values;

  std::optional<double> find(std::string_view name) const;
  double value_or_zero(std::string_view name) const { return find(name).value_or(0); }
};

/// Complete rows of steps up to `last_step`; none without a file. Throws Error as read_metrics
/// does.
std::vector<MetricsRow> rows_up_to(const std::filesystem::path& path, std::int64_t last_step);

/// Appends rows; each is on disk when append() returns.
class MetricsLog {
 public:
  /// Opens the file, keeping only the rows of steps up to `last_step` (those of a resumed run) and
  /// dropping a line that a killed process left unfinished.
  MetricsLog(std::filesystem::path path, std::int64_t last_step);
  /// The same with the rows to keep, as rows_up_to() read them.
  MetricsLog(std::filesystem::path path, std::span<const MetricsRow> rows);
  void append(const MetricsRow& row);
  bool holds(std::int64_t step) const { return steps_.contains(step); }

 private:
  std::filesystem::path path_;
  std::set<std::int64_t> steps_;
  std::ofstream file_;
};

/// What a metrics file holds.
struct MetricsFile {
  std::vector<MetricsRow> rows;
  std::vector<std::string> damage;  // a sentence for each line that is lost, with file and number
  bool checked = false;             // its lines have checksums
};

/// Its sound rows; a last line without its end was left by a killed process and does not count.
MetricsFile read_valid_metrics(const std::filesystem::path& path);

/// All complete rows of a metrics file. Throws Error naming file and line of a row that is not a
/// flat object with a step or does not fit its checksum.
std::vector<MetricsRow> read_metrics(const std::filesystem::path& path);

}  // namespace lie
