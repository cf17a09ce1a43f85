// The comparison of `lie_replay score` as a page: each quantity by step, as logged and as it is
// now.
#pragma once

#include <span>
#include <string>

#include "tools/replay/score_summary.h"

namespace lie::replay {

/// HTML that needs nothing else. `title`: of the run; `words`: what was changed and what came of
/// it, as plain text.
std::string score_page(const std::string& title, const std::string& words,
                       std::span<const StepScores> steps, const BothRewards& rewards);

}  // namespace lie::replay
