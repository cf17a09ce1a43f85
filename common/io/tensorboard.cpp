#include "common/io/tensorboard.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"

namespace lie {
namespace {

constexpr std::size_t kRecordHead = sizeof(std::uint64_t) + sizeof(std::uint32_t);

std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

template <typename T>
std::string little_endian(T value) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  bytes += static_cast<char>(value);
  return bytes;
}

// Protobuf keys are (field number << 3 | wire type) with wire types 0 varint, 1 eight bytes, 2
// length and bytes, 5 four bytes. Zero values are omitted, as in the protobuf library.
std::string bytes_field(int number, std::string_view bytes) {
  std::string field(1, static_cast<char>(number << 3 | 2));
  return field.append(varint(bytes.size())).append(bytes);
}

std::string integer_field(int number, std::int64_t value) {
  if (value == 0) return {};
  std::string field(1, static_cast<char>(number << 3));
  return field.append(varint(static_cast<std::uint64_t>(value)));
}

std::string double_field(int number, double value) {
  if (value == 0) return {};
  std::string field(1, static_cast<char>(number << 3 | 1));
  return field.append(little_endian(value));
}

std::string doubles_field(int number, std::span<const double> values) {
  std::string bytes;
  for (const double value : values) bytes += little_endian(value);
  return bytes_field(number, bytes);
}

std::string record(double wall_time, std::int64_t step, std::string_view what) {
  std::string event(1, static_cast<char>(1 << 3 | 1));
  event.append(little_endian(wall_time)).append(integer_field(2, step)).append(what);
  const std::string length = little_endian(static_cast<std::uint64_t>(event.size()));
  return length + little_endian(masked_crc(length)) + event + little_endian(masked_crc(event));
}

constexpr std::string_view kFilePrefix = "events.out.tfevents.";

void remove_event_files(const fs::path& directory) {
  for (const std::string& name : list_directory(directory)) {
    if (name.starts_with(kFilePrefix)) remove_file(directory / name);
  }
}

}  // namespace

std::string version_record(double wall_time) {
  return record(wall_time, 0, bytes_field(3, "brain.Event:2"));
}

std::string restart_record(double wall_time, std::int64_t step) {
  constexpr std::int64_t kStart = 1;
  return record(wall_time, step, bytes_field(7, integer_field(1, kStart)));
}

std::string scalars_record(double wall_time, std::int64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    std::string value = bytes_field(1, scalar.tag);
    value += static_cast<char>(2 << 3 | 5);
    value += little_endian(static_cast<float>(scalar.value));
    summary += bytes_field(1, value);
  }
  return record(wall_time, step, bytes_field(5, summary));
}

std::string text_record(double wall_time, std::int64_t step, std::string_view tag,
                        std::string_view markdown) {
  constexpr std::int64_t kString = 7;
  const std::string tensor =
      integer_field(1, kString) + bytes_field(2, "") + bytes_field(8, markdown);
  const std::string metadata = bytes_field(1, bytes_field(1, "text"));
  const std::string value = bytes_field(1, tag) + bytes_field(8, tensor) + bytes_field(9, metadata);
  return record(wall_time, step, bytes_field(5, bytes_field(1, value)));
}

std::string histogram_record(double wall_time, std::int64_t step, std::string_view tag,
                             std::span<const double> values) {
  constexpr std::size_t kBuckets = 30;
  const auto [low, high] = std::ranges::minmax(values);
  const std::size_t size = low < high ? kBuckets : 1;
  const double width = (high - low) / static_cast<double>(size);
  std::vector<double> limits(size, high), counts(size);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < size; ++i) limits[i] = low + width * static_cast<double>(i + 1);
  for (const double value : values) {
    sum += value, squares += value * value;
    const auto found = std::ranges::upper_bound(limits, value) - limits.begin();
    ++counts[std::min(static_cast<std::size_t>(found), size - 1)];
  }
  const std::string histogram = double_field(1, low) + double_field(2, high) +
                                double_field(3, static_cast<double>(values.size())) +
                                double_field(4, sum) + double_field(5, squares) +
                                doubles_field(6, limits) + doubles_field(7, counts);
  const std::string value = bytes_field(1, tag) + bytes_field(5, histogram);
  return record(wall_time, step, bytes_field(5, bytes_field(1, value)));
}

EventWriter::EventWriter(const fs::path& directory, std::optional<std::int64_t> keep) {
  make_directories(directory);
  if (!keep) remove_event_files(directory);
  const double now = unix_seconds();
  file_.emplace(directory / fmt::format("{}{:010}.{}.{}", kFilePrefix,
                                        static_cast<std::int64_t>(now), host_name(), ::getpid()),
                OutputFile::Begin::kAtEnd);
  file_->write(version_record(now) + restart_record(now, keep.value_or(0)));
}

void EventWriter::write(double wall_time, std::int64_t step, std::span<const Scalar> scalars) {
  file_->write(scalars_record(wall_time, step, scalars));
}

std::string event_file_fault(const fs::path& path) {
  const std::string text = read_file(path);
  std::string_view left = text;
  // Returns whether the first `size` bytes are followed by their checksum.
  const auto fits = [&](std::size_t size) {
    return left.substr(size).starts_with(little_endian(masked_crc(left.substr(0, size))));
  };
  while (left.size() >= kRecordHead) {
    const std::string place = fmt::format("{}: the record at byte {} is damaged", path.string(),
                                          text.size() - left.size());
    if (!fits(sizeof(std::uint64_t))) return place;
    std::uint64_t size = 0;
    std::memcpy(&size, left.data(), sizeof size);
    left.remove_prefix(kRecordHead);
    if (left.size() < size + sizeof(std::uint32_t)) break;
    if (!fits(size)) return place;
    left.remove_prefix(size + sizeof(std::uint32_t));
  }
  return "";
}

}  // namespace lie
