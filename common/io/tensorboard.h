// Writes scalars, texts and histograms for TensorBoard: event files of format "brain.Event:2",
// without protobuf.
//
// A file is a sequence of records. Each is: length of data (8 bytes), checksum of the length (4
// bytes), data, checksum of the data (4 bytes), all little-endian. A checksum is the CRC-32C,
// rotated and shifted by TFRecord's mask. Data is an Event message: 1 wall_time (double), 2 step
// (int64), and one of 3 file_version (string), 5 summary { 1 value { 1 tag (string), 2 simple_value
// (float) } ... }, 7 session_log { 1 status = START }. Instead of a simple_value, a value of a text
// has 8 tensor { 1 dtype = DT_STRING, 2 tensor_shape {}, 8 string_val } and 9 metadata { 1
// plugin_data { 1 plugin_name = "text" } }, and a value of a histogram has 5 histo { 1 min, 2 max,
// 3 num, 4 sum, 5 sum_squares, 6 bucket_limit ..., 7 bucket ... }, all double.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/io/output_file.h"

namespace lie {

/// One point of one curve. TensorBoard groups tags by the part before the first '/'.
struct Scalar {
  std::string tag;
  double value = 0;  // stored as float
};

/// Returns the first record of a file. `wall_time`: seconds since 1970.
std::string version_record(double wall_time);
/// Returns a record that restarts the curves at `step`: TensorBoard drops what it has read of this
/// and later steps.
std::string restart_record(double wall_time, std::int64_t step);
/// Returns a record with one point of each curve.
std::string scalars_record(double wall_time, std::int64_t step, std::span<const Scalar> scalars);

/// Returns a record with a text in Markdown. Requires valid UTF-8.
std::string text_record(double wall_time, std::int64_t step, std::string_view tag,
                        std::string_view markdown);
/// Returns a record with the distribution of the values, in at most 30 buckets of equal width.
/// Requires a value.
std::string histogram_record(double wall_time, std::int64_t step, std::string_view tag,
                             std::span<const double> values);

/// Writes one event file, "events.out.tfevents.<seconds>.<host>.<process>", and removes the
/// existing ones, unless it continues them. The curves restart, also in a running TensorBoard. Each
/// call reaches the operating system before it returns. Throws Error with the file's name if it
/// cannot write.
class EventWriter {
 public:
  /// Creates `directory` if needed. Keeps files in it that are not event files, and with `keep` the
  /// existing event files up to the curves' points before that step.
  explicit EventWriter(const std::filesystem::path& directory,
                       std::optional<std::int64_t> keep = std::nullopt);

  void write_record(std::string_view record) { file_->write(record); }
  void write(double wall_time, std::int64_t step, std::span<const Scalar> scalars);

  const std::filesystem::path& path() const { return file_->path(); }

 private:
  std::optional<OutputFile> file_;
};

/// Returns a sentence with the position of the first record that does not match its checksum. All
/// records after it are lost. Empty if all records match. Ignores an incomplete last record.
std::string event_file_fault(const std::filesystem::path& path);

}  // namespace lie
