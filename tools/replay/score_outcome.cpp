#include "tools/replay/score_outcome.h"

#include <algorithm>
#include <string>

#include "common/comm/gather.h"
#include "common/json.h"

namespace lie::replay {

// Written and read by one build; a double's text reads back to the same double.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreTally, groups, all_right, all_wrong, responses, right,
                                   reward_sums, mass, evaluation_responses, evaluation_right)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepScores, first_step, last_step, logged, now, turned)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ScoreDifferences, compared, responses, values, first)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepOutcome, scores, differences)

ScoreOutcome gather_outcome(Job& job, const std::vector<StepOutcome>& mine) {
  const std::vector<std::string> texts = gather_texts(job, Json(mine).dump());
  if (job.rank() != 0) return {};
  std::vector<StepOutcome> all;
  for (const std::string& text : texts) {
    std::ranges::move(Json::parse(text).get<std::vector<StepOutcome>>(), std::back_inserter(all));
  }
  std::ranges::sort(all, {}, [](const StepOutcome& step) { return step.scores.first_step; });
  ScoreOutcome outcome;
  for (StepOutcome& step : all) {
    outcome.differences.merge(step.differences);
    outcome.steps.push_back(std::move(step.scores));
  }
  return outcome;
}

}  // namespace lie::replay
