"""Golden numbers for advantage estimators, from NumPy in double precision.

    python tests/learner/advantage/golden/make_advantages.py > tests/learner/advantage/golden/advantages.h

To add an estimator, add a function that takes the groups of a step, and its settings, to ESTIMATORS. It returns for each
group the contribution of each reward term to each advantage, [G, terms]; advantages are sums over terms, and masses are
sums of absolute values over the group.
"""
from typing import NamedTuple

import numpy as np


class Group(NamedTuple):
    terms: np.ndarray  # [G, terms], of which a float can hold each
    correct: np.ndarray  # [G]


def group(rows, correct):
    return Group(np.array(rows, np.float32).astype(np.float64), np.array(correct))


GROUPS = [
    group([[1, 0], [0, 0], [0, 0], [0, 0]], [1, 0, 0, 0]),
    group([[1, 0], [1, -0.25], [0, -0.5], [0, -0.125], [1, 0]], [1, 1, 0, 0, 1]),
    group([[0, -1.5], [0, -0.5]], [0, 0]),  # no correct response, and a negative mean
    group([[1, -0.75], [0, -1.5], [0, -1]], [1, 0, 0]),  # a correct response, and a negative mean
    group([[1, -0.5], [1, -0.5], [1, -0.5]], [1, 1, 1]),  # equal rewards
]


def maxrl(groups):
    return [(g.terms - g.terms.mean(0)) / g.correct.mean() if g.correct.any() else 0 * g.terms for g in groups]


ESTIMATORS = [(["estimator=maxrl"], maxrl)]


def listed(values):
    return "{" + ", ".join(f"{value:.17g}" for value in values) + "}"


def print_steps():
    for settings, estimator in ESTIMATORS:
        print("    {{" + ", ".join(f'"{setting}"' for setting in settings) + "}, {")
        for g, parts in zip(GROUPS, estimator(GROUPS)):
            terms = "{" + ", ".join("{" + ", ".join(f"{x:#.9g}F" for x in row) + "}" for row in g.terms) + "}"
            correct = "{" + ", ".join("true" if x else "false" for x in g.correct) + "}"
            print(f"      {{{terms}, {correct}, {listed(parts.sum(1))}, {listed(np.abs(parts).sum(0))}}},")
        print("    }},")


print("""// Made by make_advantages.py; do not edit.
#pragma once

#include <string>
#include <vector>

namespace lie::golden {

/// A group: the reward terms and verdict of each response, its advantages, and masses of the terms.
struct AdvantageGroup {
  std::vector<std::vector<float>> terms;
  std::vector<bool> correct;
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
