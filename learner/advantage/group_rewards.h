// The rewards of a group as numbers, for advantage estimators.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/rollout/rollout.h"
#include "learner/advantage/advantage.h"

namespace lie {

/// The number added to standard deviations before a division by them.
inline constexpr double kStdEpsilon = 1e-6;

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

/// Returns the standard deviation (ddof 1) of values whose mean is given; 0 for fewer than two.
double standard_deviation(std::span<const double> values, double mean);

/// Returns (R_i - mean R) / divisor for rewards [G].
std::vector<double> centered(std::span<const double> rewards, double divisor);

/// Returns (R_i - mean R) / (std R + 1e-6) for rewards [G], and exactly 0 if all are equal.
std::vector<double> standardized(std::span<const double> rewards);

/// Returns each response's tokens [G], at least 1.
std::vector<double> lengths_of(const ScoredGroup& group);

/// Returns the sum of absolute values.
double magnitude(std::span<const double> values);

/// Returns GroupAdvantages::mass of advantages that are centered rewards: for each term the
/// magnitude of its own centered values, and 0 if all are equal.
std::vector<double> term_masses(std::span<const Score> scores, double divisor);

/// Returns advantages of 0 and masses of 0.
GroupAdvantages zero_advantages(std::span<const Score> scores);

/// Returns A_i = sum_k (r_ik - baseline_k) for the terms k of each response, with the masses of
/// these parts.
GroupAdvantages minus_terms(std::span<const Score> scores, std::span<const double> baselines);

/// Divides all advantages and masses of a step.
void divide(std::span<GroupAdvantages> groups, double divisor);

}  // namespace lie
