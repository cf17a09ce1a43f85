#include "common/trajectory/recovery.h"

#include <algorithm>
#include <string>

#include "common/base/error.h"
#include "common/base/fault.h"
#include "common/io/file.h"
#include "common/text/counted.h"
#include "common/trajectory/column_file.h"
#include "common/trajectory/reader.h"
#include "common/trajectory/segments.h"
#include "common/trajectory/step_log.h"

namespace lie {
namespace {

using schema::ColumnInfo;

void rename_damaged(const Segment& segment, std::int64_t step, const char* fault, const Log& log) {
  const fs::path aside = set_aside(segment.path, ".damaged");
  const std::int64_t start = segment.starts_after_step;
  const std::string lost = start < step ? numbered_are("step", start + 1, step) + " lost, " : "";
  log.warn(
      "TRAJECTORIES ARE DAMAGED: {}; renamed to {}: {}its steps after step {} are generated again",
      fault, aside.filename().string(), lost, std::max(start, step));
}

/// Renames damaged segments. It reads every row of the segments after the checkpoint. Of those
/// before it, it reads only the attributes and steps of segments that are missing from the index.
void rename_damaged_segments(const fs::path& directory, const SegmentIndex& index,
                             std::int64_t step, const Log& log) {
  const std::vector<Segment> after = segments_after(directory, step);
  for (const Segment& segment : segments(directory)) {
    const std::string name = segment.path.filename().string();
    const bool is_after = std::ranges::count(after, segment.path, &Segment::path) > 0;
    if (!is_after && std::ranges::count(index, name, &IndexedSegment::file) > 0) continue;
    try {
      const SegmentReader file(segment.path);
      const std::string fault = is_after ? damage_of(file).fault : "";
      if (!fault.empty()) fail("{}", fault);
    } catch (const Error& error) {
      if (is_of_another_version(segment.path)) throw;
      rename_damaged(segment, step, error.what(), log);
    }
  }
}

void note_missing(const fs::path& directory, const SegmentIndex& index, std::int64_t step,
                  const Log& log) {
  for (const IndexedSegment& segment : index) {
    if (segment.last_step <= step || fs::exists(directory / segment.file)) continue;
    log.warn("{} IS MISSING: it held {}; those after step {} are generated again",
             (directory / segment.file).string(),
             numbered("step", segment.first_step, segment.last_step), step);
  }
}

/// Replaces a file by a closed one that holds its steps up to `last`. Shortening it in place would
/// not be safe, because the order in which HDF5 writes shrunken columns is undefined.
void cut_after(const SegmentReader& file, std::int64_t last) {
  const fs::path aside = unfinished_name(file.path());
  ColumnFile rest(aside, file.info());
  for (std::size_t i = 0; i < file.steps().size() && file.steps()[i] <= last; ++i) {
    schema::for_each_column(file.info(), [&](const ColumnInfo& column) {
      rest.append_bytes(column.path, file.read_bytes(column, file.rows_of_step(column.table, i)));
    });
  }
  pass_fault_point("segment_cut");
  rest.close();
  rename_durably(aside, file.path());
}

bool holds_more_than(const SegmentReader& file, std::int64_t last) {
  const bool more = !file.steps().empty() && file.steps().back() > last;
  return more || !is_closed(file.path()) || !file.ends_with_a_step();
}

/// Removes or renames a segment that starts where the next one will, or later.
void free_next_start(const Segment& segment, const StepLog& steps, std::int64_t last,
                     const Log& log) {
  const SegmentReader file(segment.path);
  const auto is_whole = [&](std::int64_t step) { return step > last && steps.holds(step); };
  if (std::ranges::none_of(file.steps(), is_whole)) {
    remove_file(segment.path);
    return;
  }
  const fs::path aside = set_aside(segment.path, ".gap");
  log.warn(
      "{}: holds steps up to {}, but step {} is missing before them; renamed to {}, they are "
      "generated again",
      segment.path.string(), file.steps().back(), last + 1, aside.filename().string());
}

}  // namespace

std::int64_t recover_log(const fs::path& directory, std::int64_t step, const Log& log) {
  remove_unfinished(directory);
  const SegmentIndex index = usable_index(directory, log);
  note_missing(directory, index, step, log);
  rename_damaged_segments(directory, index, step, log);
  const StepLog steps(directory, step);
  const std::int64_t last = steps.last_after(step);
  for (const Segment& segment : segments_after(directory, step)) {
    if (segment.starts_after_step >= last) {
      free_next_start(segment, steps, last, log);
    } else if (const SegmentReader file(segment.path); holds_more_than(file, last)) {
      cut_after(file, last);
    }
  }
  sync_directory(directory);
  update_index(directory, step);
  return last;
}

}  // namespace lie
