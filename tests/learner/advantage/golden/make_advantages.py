"""Golden numbers for advantage estimators, from NumPy in double precision.

    python tests/learner/advantage/golden/make_advantages.py > tests/learner/advantage/golden/advantages.h

The pass@k advantages are averages over all subsets that a program can enumerate, not the closed form.
To add an estimator, add a function that takes the groups of a step, and its settings, to ESTIMATORS. It returns for each
group the contribution of each reward term to each advantage, [G, terms]; advantages are sums over terms, and masses are
sums of absolute values over the group.
"""
import itertools
from typing import NamedTuple

import numpy as np


class Group(NamedTuple):
    terms: np.ndarray  # [G, terms], of which a float can hold each
    correct: np.ndarray  # [G]
    lengths: np.ndarray  # [G] tokens


def group(rows, correct, lengths):
    return Group(np.array(rows, np.float32).astype(np.float64), np.array(correct), np.array(lengths))


GROUPS = [
    group([[1, 0], [0, 0], [0, 0], [0, 0]], [1, 0, 0, 0], [100, 200, 300, 150]),
    group([[1, 0], [1, -0.25], [0, -0.5], [0, -0.125], [1, 0]], [1, 1, 0, 0, 1], [7, 30, 1, 12, 12]),
    group([[0, -1.5], [0, -0.5]], [0, 0], [40, 40]),  # no correct response, and a negative mean
    group([[1, -0.75], [0, -1.5], [0, -1]], [1, 0, 0], [5, 250, 90]),  # a correct response, and a negative mean
    group([[1, -0.5], [1, -0.5], [1, -0.5]], [1, 1, 1], [1, 2, 3]),  # equal rewards
]


def maxrl(groups):
    return [(g.terms - g.terms.mean(0)) / g.correct.mean() if g.correct.any() else 0 * g.terms for g in groups]


def standardized(values):
    """Returns (x - mean) / (std + 1e-6) of each column, and 0 for a column of equal values."""
    spread = np.where(np.ptp(values, axis=0) == 0, np.inf, values.std(0, ddof=1))
    return (values - values.mean(0)) / (spread + 1e-6)


def gdpo(weights):
    """GDPO, arXiv:2601.05242: normalized by term and group, weighted, added, then normalized over the step."""
    def parts(groups):
        weighted = [standardized(g.terms) * weights for g in groups]
        sums = np.concatenate([part.sum(1) for part in weighted])
        assert abs(sums.mean()) < 1e-12  # so that whitening is a division
        return [part / (sums.std(ddof=1) + 1e-6) for part in weighted]
    return parts


def batch(baseline, std_of):
    """Batch-level standard deviation and REINFORCE++ (arXiv:2501.03262), with a response as the unit."""
    def parts(groups):
        step = np.concatenate([g.terms for g in groups])
        parts = [g.terms - (g.terms.mean(0) if baseline == "group" else step.mean(0)) for g in groups]
        spread = (step if std_of == "rewards" else np.concatenate(parts)).sum(1).std(ddof=1)
        return [part / (spread + 1e-6) for part in parts]
    return parts


def length_weighted(groups):
    parts = [g.terms - np.average(g.terms, axis=0, weights=g.lengths) for g in groups]
    assert all(abs((part.sum(1) * g.lengths).sum()) < 1e-9 for part, g in zip(parts, groups))
    return [part * (np.ptp(g.terms.sum(1)) > 0) for part, g in zip(parts, groups)]


def vl_norm(alpha, by_std):
    """VL Normalization, arXiv:2509.07558."""
    def parts(groups):
        lengths = np.concatenate([g.lengths for g in groups])
        mean_weight = ((lengths / lengths.mean()) ** -alpha).mean()
        result = []
        for g in groups:
            total = g.terms.sum(1)
            divisor = (total.std(ddof=1) + 1e-6 if by_std else 1.0) if np.ptp(total) else np.inf
            weights = (g.lengths / lengths.mean()) ** -alpha / mean_weight
            result.append((g.terms - g.terms.mean(0)) / divisor * weights[:, None])
        return result
    return parts


def pass_at_k(k):
    """Pass@k training, arXiv:2508.10751: the mean over all subsets of k responses that a response is in."""
    def parts(groups):
        result = []
        for g in groups:
            subsets = list(itertools.combinations(range(len(g.correct)), k))
            rewards = np.array([float(g.correct[list(subset)].any()) for subset in subsets])
            of_subsets = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
            found = np.zeros(g.terms.shape)
            for i in range(len(g.correct)):
                found[i, 0] = of_subsets[[i in subset for subset in subsets]].mean()
            result.append(found)
        return result
    return parts


ESTIMATORS = [
    (["estimator=maxrl"], maxrl),
    (["estimator=gdpo"], gdpo([1, 1])),
    (["estimator=gdpo", "gdpo.weights=[length=0.25]"], gdpo([1, 0.25])),
    (["estimator=batch"], batch("group", "rewards")),
    (["estimator=batch", "batch.std_of=advantages"], batch("group", "advantages")),
    (["estimator=batch", "batch.baseline=step"], batch("step", "rewards")),
    (["estimator=length_weighted"], length_weighted),
    (["estimator=vl_norm"], vl_norm(0.75, True)),
    (["estimator=vl_norm", "vl_norm.alpha=1", "vl_norm.normalize_by_std=false"], vl_norm(1, False)),
    (["estimator=pass_at_k", "pass_at_k.k=1"], pass_at_k(1)),
    (["estimator=pass_at_k", "pass_at_k.k=2"], pass_at_k(2)),
]


def listed(values):
    return "{" + ", ".join(f"{value:.17g}" for value in values) + "}"


def print_steps():
    for settings, estimator in ESTIMATORS:
        print("    {{" + ", ".join(f'"{setting}"' for setting in settings) + "}, {")
        for g, parts in zip(GROUPS, estimator(GROUPS)):
            terms = "{" + ", ".join("{" + ", ".join(f"{x:#.9g}F" for x in row) + "}" for row in g.terms) + "}"
            correct = "{" + ", ".join("true" if x else "false" for x in g.correct) + "}"
            lengths = "{" + ", ".join(str(x) for x in g.lengths) + "}"
            print(f"      {{{terms}, {correct}, {lengths}, {listed(parts.sum(1))}, {listed(np.abs(parts).sum(0))}}},")
        print("    }},")


print("""// Made by make_advantages.py; do not edit.
#pragma once

#include <string>
#include <vector>

namespace lie::golden {

/// A group: reward terms, verdict and tokens of each response, its advantages, and masses of the
/// terms.
struct AdvantageGroup {
  std::vector<std::vector<float>> terms;
  std::vector<bool> correct;
  std::vector<std::size_t> lengths;
  std::vector<double> values, mass;
};

/// The groups of a step, and the settings of their advantages.
struct AdvantageStep {
  std::vector<std::string> settings;
  std::vector<AdvantageGroup> groups;
};

// clang-format off
inline const std::vector<AdvantageStep> kAdvantageSteps = {""")
print_steps()
print("};\n// clang-format on\n\n}  // namespace lie::golden")
