// The groups that are ordered and that no step has taken yet, and the rules by which a step takes
// groups if it does not simply take its own: first groups, and dynamic sampling.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "common/process/progress.h"
#include "common/rollout/rollout.h"
#include "learner/schedule/tickets.h"

namespace lie {

// First groups: a step takes the first finished groups (rollout.complete_with). Then a long
// response delays a step only if the bound on staleness requires it.
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

inline DrawnGroup drawn_as(const Ticket& ticket) { return {ticket.step, ticket.group}; }

inline constexpr std::int64_t kStepsDrawnAhead = 1;

/// A group that is drawn and that no step has taken.
struct OpenGroup {
  DrawnGroup drawn;
  std::int64_t policy_version = 0;  // of its oldest token, or the oldest that this may have
  bool is_finished = false;
};

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

// Dynamic sampling (DAPO, arXiv:2503.14476, section 3.2). A group whose responses are all
// correct or all incorrect does not show which answer is better, so a group of another prompt
// replaces it.

/// Returns whether a group has correct and incorrect responses. Other rewards are ignored: a length
/// reward differs within almost every group.
bool has_signal(const ScoredGroup& group);

/// Returns how many prompts a step draws after these groups to have `wanted` groups with signal, if
/// those stay as frequent as so far: at most `wanted`; 0 if the step has enough. The number depends
/// on the groups alone, so it is the same for any layout.
std::int64_t prompts_of_next_round(std::span<const ScoredGroup> groups, std::int64_t wanted);

/// The groups of a step, divided into those it trains on and the others, in their order.
struct SelectedGroups {
  std::vector<ScoredGroup> trained;  // the first `wanted` groups with signal, or fewer
  std::vector<ScoredGroup> dropped;
};

SelectedGroups select_groups(std::vector<ScoredGroup> groups, std::int64_t wanted);

/// Keeps finished groups by phase, and the numbers of the groups that are awaited.
class OpenGroups {
 public:
  /// Adds a phase's groups: those already finished, and the tickets of the others.
  void order(StepPhase phase, std::vector<ScoredGroup> finished, const std::deque<Ticket>& awaited);
  void add(ScoredGroup group);

  const GroupsProgress& progress(StepPhase phase) { return phases_[phase].done; }
  bool is_complete(StepPhase phase) { return phases_[phase].awaited.empty(); }
  /// Returns the number of finished training groups of all steps, and their tokens.
  GroupsProgress training_progress() const;
  /// Returns all training groups. `version_of`: the oldest version an awaited group may have.
  std::vector<OpenGroup> training_groups(
      const std::function<std::int64_t(StepPhase, std::int64_t group)>& version_of) const;

  /// Removes and returns one finished group, in the order of arrival; empty if there is none.
  std::optional<ScoredGroup> take_one(StepPhase phase);
  /// Removes and returns all groups of a complete phase, by ascending number.
  std::vector<ScoredGroup> take_all(StepPhase phase);
  /// Removes and returns these finished training groups, in the same order.
  std::vector<ScoredGroup> take(std::span<const DrawnGroup> groups);

 private:
  struct Phase {
    GroupsProgress done;
    std::vector<ScoredGroup> finished;
    std::set<std::int64_t> awaited;  // group numbers
  };

  std::map<StepPhase, Phase> phases_;
};

/// The staleness of tokens: how many training steps the weights that sampled them are older than
/// the weights that a step begins with.
struct Staleness {
  double mean = 0;  // NaN without tokens
  std::int64_t max = 0;
};
Staleness staleness_of(std::int64_t step, std::span<const ScoredGroup> groups);

/// Throws Error if tokens of the groups are staler than `max_staleness`, or were sampled with
/// weights that step `step` has yet to compute.
void check_staleness(std::int64_t step, std::span<const ScoredGroup> groups,
                     std::int64_t max_staleness);

}  // namespace lie
