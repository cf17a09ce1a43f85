// The comparison of `lie_replay score` as a page: each quantity by step, as logged and as scored
// now.
#pragma once

#include <span>
#include <string>

#include "tools/replay/score_summary.h"

namespace lie::replay {

/// Returns an HTML page that needs no other file. `title` names the run. `words` is plain text
/// about the changed settings and their effect.
std::string score_page(const std::string& title, const std::string& words,
                       std::span<const StepScores> steps, const BothRewards& rewards);

}  // namespace lie::replay
