#include "learner/schedule/staleness.h"

#include <algorithm>
#include <limits>

#include "common/base/error.h"

namespace lie {
namespace {

/// Calls visit(staleness, tokens) for each run of tokens that the same weights have sampled.
void for_each_run(std::int64_t step, std::span<const ScoredGroup> groups, const auto& visit) {
  for (const ScoredGroup& group : groups) {
    for (const Response& response : group.rollout.responses) {
      for (const VersionRun& run : versions_of(group.rollout.ticket, response)) {
        visit(step - 1 - run.policy_version, run.tokens);
      }
    }
  }
}

}  // namespace

Staleness staleness_of(std::int64_t step, std::span<const ScoredGroup> groups) {
  std::int64_t sum = 0, all = 0;
  Staleness result;
  for_each_run(step, groups, [&](std::int64_t staleness, std::int64_t tokens) {
    sum += staleness * tokens, all += tokens;
    result.max = std::max(result.max, staleness);
  });
  result.mean = all > 0 ? static_cast<double>(sum) / static_cast<double>(all)
                        : std::numeric_limits<double>::quiet_NaN();
  return result;
}

void check_staleness(std::int64_t step, std::span<const ScoredGroup> groups,
                     std::int64_t max_staleness) {
  std::int64_t outside = 0, all = 0;
  for_each_run(step, groups, [&](std::int64_t staleness, std::int64_t tokens) {
    all += tokens;
    if (staleness < 0 || staleness > max_staleness) outside += tokens;
  });
  if (outside == 0) return;
  fail(
      "step {}: {} of its {} tokens were sampled with weights that it may not train on "
      "(rollout.max_staleness {}): this is a defect of the coordinator, please report it",
      step, outside, all, max_staleness);
}

}  // namespace lie
