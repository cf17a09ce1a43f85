// Collects a phase's scored groups, in whatever order they arrive, into canonical order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "common/comm/collective.h"
#include "common/rollout.h"

namespace lie {

/// The groups of one phase (a step's training tickets, or an evaluation), keyed by group number.
class RolloutBuffer {
 public:
  explicit RolloutBuffer(std::size_t expected) : expected_(expected) {}
  /// Throws Error if the group was there already: a ticket must be answered once.
  void add(ScoredGroup group);
  bool complete() const { return groups_.size() == expected_; }
  /// All groups by group number; the buffer is empty afterwards.
  std::vector<ScoredGroup> take();

 private:
  std::size_t expected_;
  std::map<std::int64_t, ScoredGroup> groups_;
};

/// Learner 0's groups reach every learner. Collective over the learners; the argument is read on
/// rank 0 only.
std::vector<ScoredGroup> share_groups(std::vector<ScoredGroup> groups, Collective& learners);

/// The same of names, which hold no line ends.
std::vector<std::string> share_names(const std::vector<std::string>& names, Collective& learners);

}  // namespace lie
