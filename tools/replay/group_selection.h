// Which groups of a step a replay learns from.
#pragma once

#include <string>
#include <vector>

#include "common/config/number_range.h"
#include "common/rollout/rollout.h"

namespace lie::replay {

struct GroupSelection {
  bool only_mixed = false;  // with right and wrong responses
  NumberRange numbers;      // positions in the step, from 0
};

/// "all", "mixed", or positions such as "0-7". Throws Error for any other text.
GroupSelection parse_group_selection(const std::string& text);

/// Keeps those of `groups` that are selected, by their verdicts as they are now. False, and all are
/// kept, where none is: a step must teach something.
bool keep_selected(std::vector<ScoredGroup>& groups, const GroupSelection& selection);

}  // namespace lie::replay
