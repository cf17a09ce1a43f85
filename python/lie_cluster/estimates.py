"""Estimates with their intervals, computed as by tools/statistics/intervals.cpp."""
import functools
import math
import statistics
from typing import NamedTuple

import numpy as np

from .random_bits import BOOTSTRAP_STREAM, random_below, random_bits

_NORMAL = statistics.NormalDist().inv_cdf(0.975)
_DRAWS_AT_ONCE = 1 << 18
_ROUNDING = 1e-9  # relative; differences of rounded means that should be equal differ by less


class Estimate(NamedTuple):
    """A value with its 95 % interval; low = high = value if there is none."""

    value: float
    low: float
    high: float


def mean(values):
    return sum(values) / len(values)


def _student_within(t, degrees):
    """Returns the share of Student's distribution within t of 0 (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle, odd = math.atan(t / math.sqrt(degrees)), degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0 if degrees == 1 else term
    for k in range(2 + odd, degrees - 1, 2):
        term *= (k - 1) / k * math.cos(angle) ** 2
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def student_quantile(share, degrees):
    """Returns the t within which Student's distribution holds the share, by Newton's method from below."""
    t = 0.0
    for _ in range(100):
        density = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
                           - (degrees + 1) / 2 * math.log1p(t * t / degrees)) / math.sqrt(degrees * math.pi)
        step = (share - _student_within(t, degrees)) / (2 * density)
        t += step
        if abs(step) < 1e-12 * (1 + t):
            break
    return t


def mean_interval(values):
    """Returns the mean of independent values with Student's interval; one value has no interval."""
    middle = mean(values)
    if len(values) < 2:
        return Estimate(middle, middle, middle)
    variance = sum((value - middle) ** 2 for value in values) / (len(values) - 1)
    half = student_quantile(0.95, len(values) - 1) * math.sqrt(variance / len(values))
    return Estimate(middle, middle - half, middle + half)


def paired_p(differences):
    """Returns the two-sided p of Student's test that the mean of the differences is 0. Returns 1 if the differences are
    equal up to rounding: without a spread the test says nothing."""
    if max(differences) - min(differences) <= _ROUNDING * max(map(abs, differences)):
        return 1.0
    middle, count = mean(differences), len(differences)
    variance = sum((value - middle) ** 2 for value in differences) / (count - 1)
    return 1 - _student_within(abs(middle) / math.sqrt(variance / count), count - 1)


def holm(p_values):
    """Returns the p-values adjusted for their number by Holm's step-down method."""
    adjusted, least = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = least
    return adjusted


def wilson(share, count):
    """Returns a share of `count` independent trials with Wilson's interval. Without trials there is no interval."""
    if count == 0:
        return Estimate(share, share, share)
    z = _NORMAL
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))


def bootstrap_means(columns, resamples):
    """Returns the mean of each row of `columns` [k, n], with the percentile interval of the bootstrap over its n values.
    All rows share the draws."""
    columns = np.asarray(columns, float)
    count = columns.shape[1]
    means = np.empty((resamples, len(columns)))
    rows = max(1, _DRAWS_AT_ONCE // count)
    for first in range(0, resamples, rows):
        resample = np.arange(first, min(first + rows, resamples))[:, None]
        drawn = random_below(random_bits(1, BOOTSTRAP_STREAM, sample=resample, index=np.arange(count)), count)
        for i, values in enumerate(columns):
            means[resample[:, 0], i] = values[drawn].sum(axis=1) / count
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return [Estimate(mean(values.tolist()), float(a), float(b)) for values, a, b in zip(columns, low, high)]


@functools.lru_cache(maxsize=8)
def _drawn_shares(axis, size, resamples):
    """Returns [resamples, size]: how often each row (axis 0) or column was drawn, divided by their number. The draws depend on
    nothing else, so tables of one shape share them."""
    bits = random_bits(1, BOOTSTRAP_STREAM, problem=axis + 1, sample=np.arange(resamples)[:, None], index=np.arange(size))
    return np.stack([np.bincount(one, minlength=size) for one in random_below(bits, size)]) / size


def two_way_bootstrap(table, resamples):
    """Returns the mean of a table [rows, columns] with the percentile interval of the bootstrap that draws rows and columns
    independently of each other."""
    table = np.asarray(table, float)
    rows, columns = (_drawn_shares(axis, size, resamples) for axis, size in enumerate(table.shape))
    means = np.einsum("ri,ij,rj->r", rows, table, columns, optimize=True)
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(table.mean()), float(low), float(high))
