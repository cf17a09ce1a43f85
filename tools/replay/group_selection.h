// Which groups of a step a replay learns from.
#pragma once

#include <string>
#include <vector>

#include "common/config/number_range.h"
#include "common/rollout/rollout.h"

namespace lie::replay {

struct GroupSelection {
  bool only_mixed = false;  // only groups with correct and incorrect responses
  NumberRange numbers;      // positions in the step, from 0
};

/// Parses "all", "mixed", or positions such as "0-7". Throws Error for any other text.
GroupSelection parse_group_selection(const std::string& text);

/// Removes the groups that are not selected, by their current verdicts. Returns false and keeps all
/// groups if none is selected, because a step needs a group.
bool keep_selected(std::vector<ScoredGroup>& groups, const GroupSelection& selection);

}  // namespace lie::replay
