// Accuracy within budgets of tokens: evaluations cut longer responses and score them again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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

/// Scores responses of a group that are cut; `samples` are their numbers in it.
using ScoreCut =
    std::function<std::vector<Score>(RolloutGroup cut, std::span<const std::size_t> samples)>;

/// Measures accuracy within a token budget from the same generation. Returns for each response of a
/// scored group whether it is correct within `budget` tokens. Longer responses are cut there and
/// scored by `score`, all of them in one call.
std::vector<char> correct_within(const ScoredGroup& group, std::int64_t budget,
                                 const ScoreCut& score);

}  // namespace lie
