// Scalars for TensorBoard: event files, format "brain.Event:2", written without protobuf.
//
// A file is a sequence of records: length of data (8 bytes), its checksum, data, its checksum, all
// little-endian; a checksum is CRC-32C, rotated and shifted as TFRecord masks it. Data is an Event
// message: 1 wall_time (double), 2 step (int64), and one of 3 file_version (string), 5 summary
// { 1 value { 1 tag (string), 2 simple_value (float) } ... }, 7 session_log { 1 status = START }.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace lie {

/// One point of one curve. TensorBoard groups tags by the part before the first '/'.
struct Scalar {
  std::string tag;
  double value = 0;  // stored as float
};

/// The records that a file is made of; `wall_time` in seconds since 1970.
std::string version_record(double wall_time);
/// The curves begin again at `step`: TensorBoard drops what it has read of this and later steps.
std::string restart_record(double wall_time, std::int64_t step);
std::string scalars_record(double wall_time, std::int64_t step, std::span<const Scalar> scalars);

/// Writes one event file, "events.out.tfevents.<seconds>.<host>.<process>", in place of those that
/// are there: the curves begin again, also for a TensorBoard that is watching. Each call reaches
/// the operating system before it returns. Throws Error naming the file if it cannot write.
class EventWriter {
 public:
  /// Creates `directory` if need be; files of other programs in it stay.
  explicit EventWriter(const std::filesystem::path& directory);

  void write(double wall_time, std::int64_t step, std::span<const Scalar> scalars);

  const std::filesystem::path& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void append(const std::string& record);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Where a record does not fit its checksum, as a sentence; what follows it is lost. Empty if all
/// do. A record that was being written does not count.
std::string event_file_fault(const std::filesystem::path& path);

}  // namespace lie
