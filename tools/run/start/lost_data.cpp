#include "tools/run/start/lost_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "common/base/run_files.h"
#include "common/io/metrics_log.h"
#include "common/text/counted.h"
#include "common/trajectory/segments.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using Steps = std::set<std::int64_t>;

/// Returns the steps for which the segments of all learners exist. With `allows_removed`, segments
/// removed on purpose count as existing.
Steps steps_with_trajectories(const fs::path& directory, const SegmentIndex& index,
                              bool allows_removed) {
  std::map<std::int64_t, std::int64_t>
      learners;  // by step: number of learners whose segment exists
  Steps steps;
  for (const IndexedSegment& segment : index) {
    const bool is_removed = segment.removed && allows_removed;
    if (!is_removed && !is_there(directory, segment)) continue;
    for (std::int64_t step = segment.first_step; step <= segment.last_step; ++step) {
      if (++learners[step] >= segment.learners) steps.insert(step);
    }
  }
  return steps;
}

void note_lost_segments(std::vector<std::string>& notes, const fs::path& directory,
                        const SegmentIndex& index) {
  for (const IndexedSegment& segment : index) {
    if (segment.removed || is_there(directory, segment)) continue;
    const fs::path file = directory / segment.file;
    notes.push_back(fmt::format("{} IS {}: it held {} of learner {}", file.string(),
                                fs::exists(file) ? "CUT SHORT OR CHANGED" : "MISSING",
                                numbered("step", segment.first_step, segment.last_step),
                                segment.learner));
  }
}

void note_missing_steps(std::vector<std::string>& notes, const fs::path& file, const Steps& steps,
                        std::int64_t first, std::int64_t last) {
  Steps missing;
  for (std::int64_t step = first; step <= last; ++step) {
    if (!steps.contains(step)) missing.insert(step);
  }
  if (missing.empty()) return;
  notes.push_back(fmt::format(
      "{} LACKS {} OF {} STEPS, the first is {}, the last {}: their data is lost", file.string(),
      missing.size(), last - first + 1, *missing.begin(), *missing.rbegin()));
}

}  // namespace

std::vector<std::string> lost_data(const fs::path& run_directory, std::int64_t first,
                                   std::int64_t last) {
  std::vector<std::string> notes;
  const fs::path metrics = run_directory / kMetricsFile;
  const fs::path trajectories = run_directory / kTrajectories;
  note_missing_steps(notes, metrics, steps_with_metrics(metrics), first, last);
  const SegmentIndex index = read_index(trajectories);
  note_lost_segments(notes, trajectories, index);
  note_missing_steps(notes, trajectories, steps_with_trajectories(trajectories, index, true), first,
                     last);
  return notes;
}

bool log_holds_all_up_to(std::int64_t step, const fs::path& run_directory, const Log& log) {
  const fs::path trajectories = run_directory / kTrajectories;
  const Steps steps = steps_with_trajectories(trajectories, usable_index(trajectories, log), false);
  return std::ranges::distance(steps.lower_bound(1), steps.upper_bound(step)) == step;
}

}  // namespace lie
