#include "common/trajectory/segments.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <system_error>
#include <tuple>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/text/scan.h"
#include "common/trajectory/hdf5.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "learner-";
constexpr std::string_view kMiddle = "-segment-";
constexpr std::string_view kUnfinished = ".h5.new";

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<Segment> parse_name(const fs::path& path, std::string_view extension) {
  const std::string name = path.filename().string();
  std::string_view rest = name;
  if (!take(rest, kPrefix)) return std::nullopt;
  const auto learner = take_number(rest);
  if (!learner || !take(rest, kMiddle)) return std::nullopt;
  const auto start = take_number(rest);
  if (!start || rest != extension) return std::nullopt;
  return Segment{path, *learner, *start};
}

std::vector<Segment> list(const fs::path& directory, std::string_view extension) {
  std::vector<Segment> found;
  if (!fs::is_directory(directory)) return found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (auto segment = parse_name(entry.path(), extension)) found.push_back(std::move(*segment));
  }
  std::ranges::sort(
      found, {}, [](const Segment& s) { return std::tuple(s.starts_after_step, s.learner_rank); });
  return found;
}

}  // namespace

std::string segment_name(std::int64_t learner_rank, std::int64_t starts_after_step) {
  return fmt::format("learner-{:03}-segment-{:06}.h5", learner_rank, starts_after_step);
}

std::vector<Segment> segments(const fs::path& directory) { return list(directory, ".h5"); }

std::vector<Segment> segments_after(const fs::path& directory, std::int64_t step) {
  std::vector<Segment> found = segments(directory);
  // The last start that is not after `step` belongs to the first segments needed.
  const auto later = std::ranges::upper_bound(found, step, {}, &Segment::starts_after_step);
  if (later == found.begin()) return found;
  const std::int64_t start = std::prev(later)->starts_after_step;
  std::erase_if(found, [start](const Segment& s) { return s.starts_after_step < start; });
  return found;
}

fs::path unfinished_name(const fs::path& segment) { return segment.string() + ".new"; }

void remove_unfinished(const fs::path& directory) {
  for (const Segment& segment : list(directory, kUnfinished)) remove_file(segment.path);
}

void remove_segments(const fs::path& directory) {
  remove_unfinished(directory);
  for (const Segment& segment : segments(directory)) remove_file(segment.path);
}

bool is_closed(const fs::path& path) {
  // HDF5 file format, superblock version 3: byte 11 holds the marks of open writers. The library
  // would not report them for a file that this process already reads.
  constexpr std::streamoff kFlags = 11;
  constexpr int kWriting = 1 | 4;  // any writer, SWMR writer
  std::ifstream file(path, std::ios::binary);
  file.seekg(kFlags);
  const int flags = file.get();
  return file && (flags & kWriting) == 0;
}

void clear_after_crash(const fs::path& path) {
  const h5::Handle access = h5::file_access();
  // The tool h5clear sets these two properties. HDF5 provides them by name only.
  const hbool_t yes = true;
  h5::check(H5Pset(access.id(), "clear_status_flags", &yes), "set clear_status_flags");
  h5::check(H5Pset(access.id(), "skip_eof_check", &yes), "set skip_eof_check");
  h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.id()), H5Fclose);
  if (!file)
    fail("{}: cannot repair: {}; check the disk and permissions", path.string(), h5::last_reason());
  // Data written after the last flush of the file's superblock are beyond the end that it records.
  if (H5Fincrement_filesize(file.id(), 0) < 0) h5::fail_to_write(path, "its end");
  file.close(path);
}

}  // namespace lie
