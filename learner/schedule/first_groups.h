// Which groups a step takes where it is complete with the first that are finished
// (rollout.complete_with): a long response holds no step until the bound on staleness does.
//
// While step S is collected, the groups of step S + 1 are drawn, too, so 2 N are open: drawn, and
// taken by no step. S takes N of those that are finished, first those that may wait least. Then
// those that are left must all find a later step in time: of them no more than (T - S) N may be due
// by step T, for every T; until that is so, S waits. What is drawn next, under the weights of step
// S at the oldest, is not due before step S + 1 + K (K: rollout.max_staleness), so the same holds
// for S + 1: no group is ever late, and none is dropped. The last step takes what is left.
//
// Were more steps drawn ahead, all groups would begin earlier than they need to: what a long one
// may take, K + 1 steps from its weights on, would be used up by waiting, of the short ones too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/rollout/drawn_group.h"
#include "common/rollout/rollout.h"

namespace lie {

inline DrawnGroup drawn_as(const Ticket& ticket) { return {ticket.step, ticket.group}; }

/// By how many steps actors run ahead then.
inline constexpr std::int64_t kStepsDrawnAhead = 1;

/// A group that no step has taken.
struct OpenGroup {
  DrawnGroup drawn;
  /// Of the weights of its oldest token, or the oldest that this may be of.
  std::int64_t policy_version = 0;
  bool is_finished = false;
};

/// The last step that may take it: it has no token that is staler than `max_staleness`, and the
/// step that drew it is no more steps before.
std::int64_t due_step(const OpenGroup& group, std::int64_t max_staleness);

/// Those that `step` takes, `count` of them; empty as long as it waits for more. `open`: all.
std::vector<DrawnGroup> first_groups(std::vector<OpenGroup> open, std::int64_t step,
                                     std::int64_t count, std::int64_t max_staleness);

/// `groups` once all of them are finished, else none. Throws Error if one is not open.
std::vector<DrawnGroup> once_finished(std::vector<DrawnGroup> groups,
                                      std::span<const OpenGroup> open);

/// Of the weights of its oldest token.
std::int64_t oldest_version(const RolloutGroup& group);

}  // namespace lie
