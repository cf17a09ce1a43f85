// What scoring a log again comes to, step by step, from all ranks.
#pragma once

#include <vector>

#include "common/comm/job.h"
#include "tools/replay/score_differences.h"
#include "tools/replay/score_summary.h"

namespace lie::replay {

struct ScoreOutcome {
  ScoreDifferences differences;
  std::vector<StepScores> steps;  // ascending
};

/// What one step adds.
struct StepOutcome {
  StepScores scores;
  ScoreDifferences differences = {};
};

/// Of the steps of all ranks, at rank 0; nothing at the others. Collective over the world.
ScoreOutcome gather_outcome(Job& job, const std::vector<StepOutcome>& mine);

}  // namespace lie::replay
