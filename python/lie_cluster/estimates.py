"""Estimates with their intervals, computed as by tools/statistics/intervals.cpp."""
import math
import statistics
from typing import NamedTuple

import numpy as np

from .random_bits import BOOTSTRAP_STREAM, random_below, random_bits

# Student's t, 97.5 %, for 1 to 30 degrees of freedom.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
            2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
            2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
_NORMAL = statistics.NormalDist().inv_cdf(0.975)
_DRAWS_AT_ONCE = 1 << 18


class Estimate(NamedTuple):
    """A value with its 95 % interval; low = high = value where there is none."""

    value: float
    low: float
    high: float


def mean(values):
    return sum(values) / len(values)


def mean_interval(values):
    """Returns the mean of independent values with Student's interval; one value has no interval."""
    middle = mean(values)
    if len(values) < 2:
        return Estimate(middle, middle, middle)
    student = _STUDENT[len(values) - 2] if len(values) <= len(_STUDENT) + 1 else _NORMAL
    variance = sum((value - middle) ** 2 for value in values) / (len(values) - 1)
    half = student * math.sqrt(variance / len(values))
    return Estimate(middle, middle - half, middle + half)


def wilson(share, count):
    """Returns a share of `count` independent trials with Wilson's interval; no trial, no interval."""
    if count == 0:
        return Estimate(share, share, share)
    z = _NORMAL
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))


def bootstrap_means(columns, resamples):
    """Returns for each row of `columns` [k, n] its mean with the percentile interval of the bootstrap over the n values.
    All rows share the draws, which are those of the C++ programs."""
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
