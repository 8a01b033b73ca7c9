"""Intervals for rates and means."""

import numpy as np
from scipy import stats

Interval = tuple[float, float]


def wilson(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for a rate.

    >>> low, high = wilson(25, 25)
    >>> round(low, 3), high
    (0.867, 1.0)
    """
    if trials == 0:
        return (0.0, 1.0)
    z = stats.norm.ppf((1 + level) / 2)
    rate, weight = successes / trials, z * z / trials
    middle = (rate + weight / 2) / (1 + weight)
    half = z / (1 + weight) * np.sqrt(rate * (1 - rate) / trials + weight / (4 * trials))
    low, high = float(middle - half), float(middle + half)
    return (0.0 if successes == 0 else low, 1.0 if successes == trials else high)


def gamma_mean(values: np.ndarray, level: float = 0.95) -> Interval:
    """Interval for the mean of positive values: their gamma distribution by its two moments."""
    values = np.asarray(values, dtype=float)
    mean, variance = values.mean(), values.var(ddof=1) if values.size > 1 else 0.0
    if variance == 0:
        return (float(mean), float(mean))
    shape, scale = values.size * mean**2 / variance, variance / mean / values.size
    tail = (1 - level) / 2
    low, high = stats.gamma.ppf([tail, 1 - tail], shape, scale=scale)
    return (float(low), float(high))
