// The rule of first groups: a step takes the first finished groups (rollout.complete_with). Then a
// long response delays a step only if the bound on staleness requires it.
//
// A group is open from the time its prompt is drawn until a step takes it. While step S is
// collected, the groups of step S + 1 are drawn as well, so 2 N groups are open. S takes N finished
// groups, those with the earliest due step first. It waits until the other groups can all be taken
// in time: for every later step T, at most (T - S) N of them may be due by T. Groups drawn next
// have at least the weights of step S, so they are not due before step S + 1 + K (K:
// rollout.max_staleness). The same then holds for S + 1: no group is ever late or dropped, and the
// last step takes all groups that are left.
//
// If more steps were drawn ahead, all groups would begin earlier than necessary. Groups would spend
// part of the K + 1 steps that a long response may take on waiting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/schedule/open_groups.h"

namespace lie {

/// Steps after the one that is collected whose groups are drawn already.
inline constexpr std::int64_t kStepsDrawnAhead = 1;

/// Returns the last step that may take the group: no token is then staler than `max_staleness`, and
/// the group was drawn at most that many steps before.
std::int64_t due_step(const OpenGroup& group, std::int64_t max_staleness);

/// Returns the `count` groups that `step` takes of all open groups; empty while it must wait for
/// more to finish.
std::vector<DrawnGroup> first_groups(std::vector<OpenGroup> open, std::int64_t step,
                                     std::int64_t count, std::int64_t max_staleness);

/// Returns `groups` if all of them are finished, else none. Throws Error if one is not open.
std::vector<DrawnGroup> once_finished(std::vector<DrawnGroup> groups,
                                      std::span<const OpenGroup> open);

}  // namespace lie
