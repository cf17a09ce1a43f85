// Estimators over n samples of each problem.
#pragma once

#include <cstdint>
#include <span>

namespace lie::evaluation {

/// Returns the probability that at least one of k samples is correct, unbiased from n samples of
/// which `right` are correct: 1 - C(n - right, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374,
/// eq. 1). Requires 1 <= k <= n.
double pass_at_k(std::int64_t n, std::int64_t right, std::int64_t k);

/// Returns the share of majority votes among k samples that the correct answer wins. The n samples
/// form floor(n / k) groups of k in order; the rest is unused. `answer_class` [n]: samples with the
/// same number gave the same answer, and -1 gave none and does not vote. `right` [n]: whether each
/// sample is correct. Tied classes share the vote.
double majority_at_k(std::span<const std::int32_t> answer_class, std::span<const char> right,
                     std::int64_t k);

}  // namespace lie::evaluation
