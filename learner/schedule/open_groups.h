// The groups that are ordered and that no step has taken yet.
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

inline DrawnGroup drawn_as(const Ticket& ticket) { return {ticket.step, ticket.group}; }

/// A group that is drawn and that no step has taken.
struct OpenGroup {
  DrawnGroup drawn;
  std::int64_t policy_version = 0;  // of its oldest token, or the oldest that this may have
  bool is_finished = false;
};

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

}  // namespace lie
