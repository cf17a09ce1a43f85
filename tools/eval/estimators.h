// What an evaluation estimates from n samples a problem.
#pragma once

#include <cstdint>
#include <span>

namespace lie::evaluation {

/// Probability that at least one of k samples is right, unbiased from n samples of which `right`
/// are: 1 - C(n - right, k) / C(n, k) (Chen et al. 2021, arXiv:2107.03374, eq. 1). 1 <= k <= n.
double pass_at_k(std::int64_t n, std::int64_t right, std::int64_t k);

/// Share of majority votes among k samples that the right answer wins. The n samples form floor(n /
/// k) groups of k in order; the rest is left out. `answer_class` [n]: samples with the same number
/// gave the same answer, -1 gave none and does not vote; `right` [n]. Tied classes share the vote.
double majority_at_k(std::span<const std::int32_t> answer_class, std::span<const char> right,
                     std::int64_t k);

}  // namespace lie::evaluation
