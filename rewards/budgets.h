// Accuracy within budgets of tokens: evaluations cut longer responses and score them again.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/rollout.h"

namespace lie {

/// The token budgets at which evaluations during training measure accuracy.
struct BudgetOptions {
  std::vector<std::int64_t> budgets;
};
void describe(FieldList& fields, BudgetOptions& options);

/// Throws Error if a budget is listed twice.
void check_options(const BudgetOptions& options);

/// Measures accuracy within a token budget from the same generation. Returns for each response of a
/// scored group whether it is correct within `budget` tokens. Longer responses are cut there and
/// scored by `score`.
std::vector<char> correct_within(const ScoredGroup& group, std::int64_t budget,
                                 const std::function<ScoredGroup(RolloutGroup)>& score);

}  // namespace lie
