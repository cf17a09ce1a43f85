// Answers within a budget of tokens, all from one generation: longer responses are cut there and
// judged again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"

namespace lie {

/// Budgets that evaluations during training are measured at.
struct BudgetOptions {
  std::vector<std::int64_t> budgets;
};
void describe(FieldList& fields, BudgetOptions& options);

/// Throws Error if a budget stands there twice.
void check_options(const BudgetOptions& options);

/// For each response of a scored group, whether it is right when cut after `budget` tokens, if it
/// is longer. `score` judges the cut ones.
std::vector<char> right_within(const ScoredGroup& group, std::int64_t budget,
                               const std::function<ScoredGroup(RolloutGroup)>& score);

}  // namespace lie
