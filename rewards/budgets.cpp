#include "rewards/budgets.h"

#include <algorithm>
#include <utility>

#include "common/base/error.h"

namespace lie {
void describe(FieldList& fields, BudgetOptions& options) {
  fields.add("budgets", options.budgets,
             {.help = "Evaluations also report the accuracy of the responses cut at these lengths "
                      "(eval_correct_at_4096_mean); empty: none.",
              .unit = "tokens",
              .min = 1});
}

void check_options(const BudgetOptions& options) {
  for (const std::int64_t budget : options.budgets) {
    if (std::ranges::count(options.budgets, budget) == 1) continue;
    fail("evaluation.budgets: {} is listed twice; list each budget once", budget);
  }
}

std::vector<char> correct_within(const ScoredGroup& group, std::int64_t budget,
                                 const ScoreCut& score) {
  std::vector<char> correct;
  std::vector<std::size_t> longer;
  RolloutGroup cut;
  cut.ticket = group.rollout.ticket;
  for (std::size_t i = 0; i < group.scores.size(); ++i) {
    correct.push_back(group.scores[i].verdict == VerdictCode::kEqual);
    const std::vector<std::int32_t>& ids = group.rollout.responses[i].ids;
    if (std::ssize(ids) <= budget) continue;
    longer.push_back(i);
    cut.responses.emplace_back().ids.assign(ids.begin(), ids.begin() + budget);
  }
  if (longer.empty()) return correct;
  const std::vector<Score> scores = score(std::move(cut), longer);
  for (std::size_t k = 0; k < longer.size(); ++k) {
    correct[longer[k]] = scores[k].verdict == VerdictCode::kEqual;
  }
  return correct;
}

}  // namespace lie
