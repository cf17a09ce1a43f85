#include "learner/schedule/first_groups.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "common/base/error.h"

namespace lie {
std::int64_t due_step(const OpenGroup& group, std::int64_t max_staleness) {
  return std::min(group.policy_version + 1, group.drawn.step) + max_staleness;
}

std::vector<DrawnGroup> first_groups(std::vector<OpenGroup> open, std::int64_t step,
                                     std::int64_t count, std::int64_t max_staleness) {
  const auto size = static_cast<std::size_t>(count);
  std::ranges::sort(open, {}, [&](const OpenGroup& group) {
    return std::tuple(!group.is_finished, due_step(group, max_staleness), group.drawn);
  });
  if (open.size() < size || !open[size - 1].is_finished) return {};
  const auto left = std::span(open).subspan(size);
  for (std::int64_t later = 0; later < max_staleness; ++later) {
    const auto due = std::ranges::count_if(left, [&](const OpenGroup& group) {
      return due_step(group, max_staleness) <= step + later;
    });
    if (due > later * count) return {};
  }
  std::vector<DrawnGroup> taken;
  for (const OpenGroup& group : std::span(open).first(size)) taken.push_back(group.drawn);
  return taken;
}

std::vector<DrawnGroup> once_finished(std::vector<DrawnGroup> groups,
                                      std::span<const OpenGroup> open) {
  std::map<DrawnGroup, bool> is_finished;
  for (const OpenGroup& group : open) is_finished[group.drawn] = group.is_finished;
  bool all_finished = true;
  for (const DrawnGroup& group : groups) {
    const auto found = is_finished.find(group);
    if (found == is_finished.end()) {
      fail(
          "the schedule has a step take group {} of step {}, which this run has not drawn or has "
          "taken before: follow it with the config, seed and data of the run that wrote it",
          group.group, group.step);
    }
    all_finished = all_finished && found->second;
  }
  return all_finished ? std::move(groups) : std::vector<DrawnGroup>();
}

}  // namespace lie
