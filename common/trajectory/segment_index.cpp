#include "common/trajectory/segment_index.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json_lines.h"
#include "common/io/line_checksum.h"
#include "common/trajectory/reader.h"
#include "common/trajectory/segments.h"

namespace lie {
namespace {

fs::path index_path(const fs::path& directory) { return directory / "index.jsonl"; }

std::string line_of(const IndexedSegment& segment) {
  return with_checksum(fmt::format(
             "{{\"file\":{},\"learner\":{},\"learners\":{},\"first_step\":{},\"last_step\":{},"
             "\"bytes\":{},\"removed\":{}}}",
             json_quoted(segment.file), segment.learner, segment.learners, segment.first_step,
             segment.last_step, segment.bytes, segment.removed)) +
         "\n";
}

std::int64_t required_integer(const JsonRow& row, std::string_view field) {
  const auto value = row.integer(field);
  if (!value) fail("{}: {} is missing; the file is damaged", row.place(), field);
  return *value;
}

IndexedSegment segment_of(const JsonRow& row) {
  return {.file = row.required_text("file"),
          .learner = required_integer(row, "learner"),
          .learners = required_integer(row, "learners"),
          .first_step = required_integer(row, "first_step"),
          .last_step = required_integer(row, "last_step"),
          .bytes = required_integer(row, "bytes"),
          .removed = row.boolean("removed").value_or(false)};
}

void write_index(const fs::path& directory, const SegmentIndex& index) {
  std::string lines;
  for (const IndexedSegment& segment : index) lines += line_of(segment);
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
    index.push_back(segment_of(parse_json_row(line, place)));
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
