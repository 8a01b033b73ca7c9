"""Intervals for rates and means, and a test for two rates."""

from collections.abc import Callable

import numpy as np
from scipy import optimize, special, stats

Interval = tuple[float, float]
LEVEL = 0.95


def wilson(successes: int, trials: int) -> Interval:
    """Wilson's score interval for a rate.

    >>> low, high = wilson(25, 25)
    >>> round(low, 3), high
    (0.867, 1.0)
    """
    if trials == 0:
        return (0.0, 1.0)
    z = stats.norm.ppf((1 + LEVEL) / 2)
    rate, weight = successes / trials, z * z / trials
    middle = (rate + weight / 2) / (1 + weight)
    half = z / (1 + weight) * np.sqrt(rate * (1 - rate) / trials + weight / (4 * trials))
    low, high = float(middle - half), float(middle + half)
    return (0.0 if successes == 0 else low, 1.0 if successes == trials else high)


def fisher(one: int, other: int, trials: int) -> float:
    """Fisher's exact p for `one` and `other` successes, each of `trials`."""
    return float(stats.fisher_exact([[one, trials - one], [other, trials - other]])[1])


def gamma_mean(values: np.ndarray) -> Interval:
    """Interval for the mean of positive values: gamma likelihood, profiled over the shape.

    Student's interval where the values are all but equal, as in the original benchmark.
    """
    x = np.asarray(values, dtype=float)
    if x.size < 2 or x.std(ddof=1) <= 1e-5 or x.min() <= 0:
        return _student(x, 0.0, np.inf)
    mean, log = x.mean(), np.log(x).mean()

    def profile(mu: float) -> float:
        # The best shape k has ln k - psi(k) = ln mu - E ln x + mean / mu - 1.
        gap = np.log(mu) - log + mean / mu - 1
        k = _gamma_shape(gap)
        return x.size * (k * np.log(k / mu) - special.gammaln(k) + (k - 1) * log - k * mean / mu)

    return _profile_interval(profile, mean, 0.0, np.inf)


def beta_mean(values: np.ndarray) -> Interval:
    """Interval for the mean of sparsity errors, which lie in [0, 0.5]: beta likelihood of 2 x.

    The original evaluates that density at x instead of 2 x, which halves its means; this does not.
    """
    x = np.clip(np.asarray(values, dtype=float), 1e-16, 0.5 - 1e-16)
    if x.size < 2 or x.std(ddof=1) <= 1e-10:
        return _student(x, 0.0, 0.5)
    y = 2 * x
    log, log_rest = np.log(y).mean(), np.log1p(-y).mean()

    def profile(mu: float) -> float:
        def loss(log_v: float) -> float:
            a, b = 2 * mu * np.exp(log_v), (1 - 2 * mu) * np.exp(log_v)
            return -float((a - 1) * log + (b - 1) * log_rest - special.betaln(a, b))

        best = optimize.minimize_scalar(loss, bounds=(-10, 60), method="bounded")
        return -x.size * float(best.fun)

    found = optimize.minimize_scalar(
        lambda t: -profile(0.5 * special.expit(t)), bounds=(-40, 10), method="bounded"
    )
    return _profile_interval(profile, 0.5 * special.expit(found.x), 0.0, 0.5)


def _gamma_shape(gap: float) -> float:
    """Solve ln k - psi(k) = gap."""
    k = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(5):
        k -= (np.log(k) - special.digamma(k) - gap) / (1 / k - special.polygamma(1, k))
    return float(k)


def _profile_interval(
    profile: Callable[[float], float], best: float, low: float, high: float
) -> Interval:
    """Where the profile likelihood falls by half a chi-square quantile from its best."""
    floor = profile(best) - stats.chi2.ppf(LEVEL, 1) / 2
    ends = []
    for bound in (low, high):
        near, far = best, best
        for _ in range(200):
            middle = 2 * far if bound == np.inf else (far + bound) / 2
            near, far = far, middle
            if profile(far) < floor:
                ends.append(optimize.brentq(lambda mu: profile(mu) - floor, near, far))
                break
        else:
            ends.append(bound)
    return (float(ends[0]), float(ends[1]))


def _student(x: np.ndarray, low: float, high: float) -> Interval:
    if x.size < 2:
        return (low, high)
    half = stats.t.ppf((1 + LEVEL) / 2, x.size - 1) * x.std(ddof=1) / np.sqrt(x.size)
    return (float(max(low, x.mean() - half)), float(min(high, x.mean() + half)))
