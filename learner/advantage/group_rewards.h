// The rewards of a group as numbers, for advantage estimators.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"

namespace lie {

/// Throws Error if a group has no responses, or if a reward term or the sum of a response's terms
/// is not a finite number.
void check_scores(std::span<const Score> scores);

/// Returns the number of terms, which must be the same for all members.
std::size_t terms_of(std::span<const Score> scores);

/// Returns each response's sum of reward terms [G].
std::vector<double> total_rewards(std::span<const Score> scores);

/// Returns one reward term of each response [G].
std::vector<double> term_column(std::span<const Score> scores, std::size_t term);

/// Returns whether rewards differ by at most 1e-6 * max(1, magnitude), so that rounding never
/// becomes an advantage.
bool all_equal(std::span<const double> rewards);

/// Returns the mean of rewards [G], which must not be empty.
double mean_reward(std::span<const double> rewards);

/// Returns (R_i - mean R) / divisor for rewards [G].
std::vector<double> centered(std::span<const double> rewards, double divisor);

/// Returns the sum of absolute values.
double magnitude(std::span<const double> values);

/// Returns GroupAdvantages::mass of advantages that are centered rewards: for each term the
/// magnitude of its own centered values, and 0 if all are equal.
std::vector<double> term_masses(std::span<const Score> scores, double divisor);

}  // namespace lie
