"""Means, Student's intervals, and differences of runs with the same seed."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple


class Summary(NamedTuple):
    """A mean over runs."""

    mean: float
    half: float | None
    """Half the width of the mean's 95 % confidence interval; None for a single run."""
    n: int

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.mean - (self.half or 0)

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.mean + (self.half or 0)


def summary(values: Sequence[float]) -> Summary:
    """Returns the mean and t(0.975, n - 1) · s / √n of at least one value."""
    n, mean = len(values), math.fsum(values) / len(values)
    if n < 2:
        return Summary(mean, None, n)
    variance = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    return Summary(mean, t_quantile(n - 1) * math.sqrt(variance / n), n)


@functools.cache
def t_quantile(df: int, p: float = 0.975) -> float:
    """Returns the p-quantile (p > 0.5) of Student's distribution, by bisection."""
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, df) < p else (low, middle)
    return (low + high) / 2


def t_cdf(t: float, df: int) -> float:
    """Student's distribution function for t ≥ 0: 1 - I_x(df/2, 1/2) / 2 with x = df / (df + t²)."""
    return 1 - incomplete_beta(df / 2, 0.5, df / (df + t * t)) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    # Evaluated backwards: enough terms for any number of runs.
    fraction = 1.0
    for k in range(400, 0, -1):
        m = k // 2
        if k % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        fraction = 1 + d / fraction
    return front / fraction
