#!/usr/bin/env python3
"""Writes estimators.json, the results that tests/tools/estimators_test.cpp expects (the file is in the repository).

    make_estimators.py      (needs numpy and scipy)

pass@k is computed by counting all subsets of the samples, with exact fractions, and maj@k by Python's Counter. The slope within prompts
is a regression with a dummy variable for each prompt, and its standard error the sandwich formula in matrices. The
interval over prompts is found by bisection of the score test that it inverts. Student's quantiles come from scipy.
"""
import itertools
import json
import os
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))


def pass_at_k(n, right, k):
    subsets = list(itertools.combinations(range(n), k))
    return Fraction(sum(any(i < right for i in s) for s in subsets), len(subsets))


def majority_at_k(classes, right, k):
    votes = [range(i, i + k) for i in range(0, len(classes) - k + 1, k)]
    won = Fraction(0)
    for vote in votes:
        counts = Counter(classes[i] for i in vote if classes[i] >= 0)
        if not counts:
            continue
        top = [c for c, m in counts.items() if m == max(counts.values())]
        won += Fraction(sum(any(right[i] for i in vote if classes[i] == c) for c in top), len(top))
    return won / len(votes)


def score_bounds(share, n, z):
    """Returns the bounds of the values p that the score test |share - p| <= z sqrt(p (1 - p) / n) does not reject."""
    def accepted(p):
        return (share - p) ** 2 <= z * z * p * (1 - p) / n

    def border(inside, outside):
        for _ in range(200):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if accepted(middle) else (inside, middle)
        return inside

    inside = min(max(share, 1e-9), 1 - 1e-9)
    return border(inside, 0.0), border(inside, 1.0)


def share_over_prompts(sources, responses, confidence):
    """The mean over sources of the means of their prompts' shares: its variance is that within sources."""
    added = 0.25  # prompts, half of them correct
    share = np.mean([np.mean(source) for source in sources])
    variance, degrees, count = 0.0, 0, sum(map(len, sources))
    for source in sources:
        n, mean, weight = len(source), np.mean(source), 1 / len(sources)
        squares = np.sum((np.asarray(source) - mean) ** 2) + added / 2 * (mean ** 2 + (1 - mean) ** 2)
        variance += weight ** 2 * squares / n ** 2 * n / (n - 1)
        degrees += n - 1
    middle = (count * share + added / 2) / (count + added)
    trials = min(middle * (1 - middle) / variance, count * responses)
    low, high = score_bounds(share, trials, stats.t.ppf(0.5 + confidence / 2, degrees))
    prompts = [[1 / len(sources) / len(source), x / len(sources) / len(source), responses, i]
               for i, source in enumerate(sources) for x in source]
    return {"prompts": prompts, "confidence": confidence, "value": float(share), "low": float(low), "high": float(high)}


def slope_within(prompts):
    """The last coefficient of correctness on prompt dummies and length, with its cluster-robust interval."""
    rows, y, groups = [], [], []
    for i, samples in enumerate(prompts):
        for tokens, correct in samples:
            rows.append([float(i == j) for j in range(len(prompts))] + [tokens])
            y.append(correct)
            groups.append(i)
    x, y, groups = np.array(rows), np.array(y, float), np.array(groups)
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ y
    residuals = y - x @ coefficients
    scores = np.array([x[groups == g].T @ residuals[groups == g] for g in range(len(prompts))])
    variance = inverse @ (scores.T @ scores) @ inverse * len(prompts) / (len(prompts) - 1)
    half = stats.t.ppf(0.975, len(prompts) - 1) * np.sqrt(variance[-1, -1])
    return [float(coefficients[-1]), float(coefficients[-1] - half), float(coefficients[-1] + half)]


def main():
    generator = np.random.default_rng(3)
    passes = [{"n": n, "right": c, "k": k, "value": float(pass_at_k(n, c, k))}
              for n in (1, 4, 9) for c in range(n + 1) for k in range(1, n + 1)]
    majorities = []
    for n, k in ((1, 1), (4, 4), (8, 4), (9, 4), (12, 3), (16, 16)):
        for _ in range(5):
            classes = [int(c) for c in generator.integers(-1, 4, n)]
            right = [int(c == 1) for c in classes]
            majorities.append({"classes": classes, "right": right, "k": k,
                               "value": float(majority_at_k(classes, right, k))})
    strata = [([[0.0] * 30], 1), ([[1.0] * 30], 8), ([[float(x) for x in generator.integers(0, 33, 30) / 32]], 32),
              ([[float(x) for x in generator.integers(0, 2, 200)],
                [float(x) for x in generator.integers(0, 9, 50) / 8]], 8)]
    shares = [share_over_prompts(sources, responses, confidence)
              for sources, responses in strata for confidence in (0.95, 0.8)]
    students = [{"share": share, "degrees": n, "value": float(stats.t.ppf(0.5 + share / 2, n))}
                for share in (0.5, 0.95, 0.99) for n in (1, 2, 3, 10, 30, 31, 32, 60, 127, 1000, 99999)]
    slopes = []
    generator = np.random.default_rng(5)
    for count, samples in ((2, 2), (5, 8), (30, 4)):
        prompts = [[[float(t), int(c)] for t, c in zip(generator.integers(5, 60, samples),
                                                       generator.integers(0, 2, samples))] for _ in range(count)]
        value, low, high = slope_within(prompts)
        slopes.append({"prompts": prompts, "value": value, "low": low, "high": high})
    with open(os.path.join(HERE, "estimators.json"), "w") as out:
        json.dump({"pass_at_k": passes, "majority_at_k": majorities, "share_over_prompts": shares,
                   "student": students, "slope_within_prompts": slopes}, out, separators=(",", ":"))


if __name__ == "__main__":
    main()
