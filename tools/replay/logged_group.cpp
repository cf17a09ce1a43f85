#include "tools/replay/logged_group.h"

#include <algorithm>

namespace lie::replay {
namespace {

std::vector<std::size_t> samples_that_are(const LoggedGroup& group, bool right) {
  std::vector<std::size_t> samples;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group.is_right(i) == right) samples.push_back(i);
  }
  return samples;
}

}  // namespace

std::int64_t count_right(const LoggedGroup& group) {
  return std::ssize(samples_that_are(group, true));
}

std::vector<std::size_t> best_right(const LoggedGroup& group) {
  std::vector<std::size_t> samples = samples_that_are(group, true);
  std::ranges::stable_sort(samples, std::greater(),
                           [&](std::size_t i) { return group.score(i).reward(); });
  return samples;
}

std::optional<std::size_t> worst_wrong(const LoggedGroup& group) {
  const std::vector<std::size_t> wrong = samples_that_are(group, false);
  if (wrong.empty()) return {};
  return *std::ranges::min_element(wrong, {},
                                   [&](std::size_t i) { return group.score(i).reward(); });
}

}  // namespace lie::replay
