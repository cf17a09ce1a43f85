#include "common/trajectory/segments.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <tuple>

#include "common/base/error.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/line_input.h"
#include "common/text/counted.h"
#include "common/text/scan.h"
#include "common/trajectory/hdf5.h"
#include "common/trajectory/reader.h"

namespace lie {

namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "learner-";
constexpr std::string_view kMiddle = "-segment-";
constexpr std::string_view kUnfinished = ".h5.new";

std::optional<Segment> parse_name(const fs::path& path, std::string_view extension) {
  const std::string file = path.filename().string();
  const std::string_view name = file;
  const std::size_t middle = std::min(name.find(kMiddle), name.size());
  const auto learner = number_in_name(name.substr(0, middle), kPrefix);
  const auto start = number_in_name(name.substr(middle), kMiddle, extension);
  if (!learner || !start || *learner < 0 || *start < 0) return std::nullopt;
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

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(IndexedSegment, file, learner, learners, first_step, last_step,
                                   bytes, removed)

namespace {

fs::path index_path(const fs::path& directory) { return directory / "index.jsonl"; }

IndexedSegment segment_of(std::string_view line, const std::string& place) {
  try {
    return parse_json(line, place).get<IndexedSegment>();
  } catch (const Json::exception& error) {
    fail("{}: {}; the file is damaged", place, error.what());
  }
}

void write_index(const fs::path& directory, const SegmentIndex& index) {
  std::string lines;
  for (const IndexedSegment& segment : index) {
    lines += with_checksum(fmt::format(
                 "{{\"file\":{},\"learner\":{},\"learners\":{},\"first_step\":{},\"last_step\":{},"
                 "\"bytes\":{},\"removed\":{}}}",
                 Json(segment.file).dump(), segment.learner, segment.learners, segment.first_step,
                 segment.last_step, segment.bytes, segment.removed)) +
             "\n";
  }
  write_file_atomically(index_path(directory), lines);
}

std::int64_t size_of(const fs::path& file) {
  return static_cast<std::int64_t>(fs::file_size(file));
}

/// Removes steps after `step` from the index. A missing file stays listed with its steps up to
/// `step`.
void forget_after(SegmentIndex& index, const fs::path& directory, std::int64_t step) {
  std::erase_if(index, [&](const IndexedSegment& segment) {
    return segment.last_step > step &&
           (segment.first_step > step || fs::exists(directory / segment.file));
  });
  for (IndexedSegment& segment : index) segment.last_step = std::min(segment.last_step, step);
}

void add_to(SegmentIndex& index, const fs::path& path) {
  const SegmentReader file(path);
  if (file.steps().empty() || !is_closed(path)) return;
  index.push_back({.file = path.filename().string(),
                   .learner = file.info().learner_rank,
                   .learners = file.info().learner_count,
                   .first_step = file.steps().front(),
                   .last_step = file.steps().back(),
                   .bytes = size_of(path)});
}

}  // namespace

SegmentIndex read_index(const fs::path& directory) {
  const fs::path path = index_path(directory);
  SegmentIndex index;
  if (!fs::exists(path)) return index;
  const std::string text = read_file(path);
  const bool checked = has_checksum(text);
  const auto add_line = [&](std::string_view line, std::size_t number) {
    const std::string place = fmt::format("{}:{}", path.string(), number);
    index.push_back(segment_of(line, place));
    if (checked && !is_valid(line)) fail("{}: does not match its checksum; it is damaged", place);
  };
  // The file is written atomically, so an incomplete last line is damage.
  if (!for_each_whole_line(text, add_line).empty()) fail("{}: its end is damaged", path.string());
  return index;
}

SegmentIndex usable_index(const fs::path& directory, const Log& log) {
  try {
    return read_index(directory);
  } catch (const Error& error) {
    set_aside(index_path(directory), ".damaged");
    log.warn("{}; renamed, and rebuilt from the files", error.what());
  }
  return {};
}

bool is_there(const fs::path& directory, const IndexedSegment& segment) {
  const fs::path path = directory / segment.file;
  return fs::exists(path) && size_of(path) == segment.bytes;
}

std::vector<std::string> missing_segments(const fs::path& directory) {
  std::vector<std::string> missing;
  try {
    for (const IndexedSegment& segment : read_index(directory)) {
      if (segment.removed || fs::exists(directory / segment.file)) continue;
      missing.push_back(fmt::format("{} is missing: it held {} of learner {}", segment.file,
                                    numbered("step", segment.first_step, segment.last_step),
                                    segment.learner));
    }
  } catch (const Error& error) {
    missing.push_back(fmt::format("{}: missing files would not be detected", error.what()));
  }
  return missing;
}

std::vector<StepRange> unlisted_steps(std::set<std::int64_t> held, const SegmentIndex& index,
                                      std::int64_t first, std::int64_t last) {
  for (const IndexedSegment& line : index) {
    for (std::int64_t step = line.first_step; step <= line.last_step; ++step) held.insert(step);
  }
  held.insert(last + 1);
  std::vector<StepRange> ranges;
  for (auto step = held.lower_bound(first); first <= last; first = *step++ + 1) {
    if (*step > first) ranges.push_back({first, *step - 1});
  }
  return ranges;
}

void update_index(const fs::path& directory, std::int64_t step) {
  SegmentIndex index = read_index(directory);
  forget_after(index, directory, step);
  for (const Segment& segment : segments(directory)) {
    const std::string name = segment.path.filename().string();
    const auto known = std::ranges::find(index, name, &IndexedSegment::file);
    if (known == index.end()) add_to(index, segment.path);
  }
  std::ranges::sort(index, {},
                    [](const IndexedSegment& s) { return std::tuple(s.first_step, s.file); });
  write_index(directory, index);
}

void remove_segments_up_to(const fs::path& directory, std::int64_t last) {
  SegmentIndex index = read_index(directory);
  for (IndexedSegment& segment : index) {
    if (segment.last_step <= last) segment.removed = true;
  }
  write_index(directory, index);
  for (const IndexedSegment& segment : index) {
    if (segment.removed) remove_file(directory / segment.file);
  }
}

}  // namespace lie
