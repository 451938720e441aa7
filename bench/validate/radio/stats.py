"""Ratios of means with intervals, and rank correlation."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bench.stats import STUDENT_T


class Ratio(NamedTuple):
    """A ratio and the ends of its 95 % interval; without them the runs are too few."""

    mean: float
    low: float
    high: float

    def within(self, least: float, most: float) -> bool:
        """Returns whether the whole interval is within these bounds."""
        return least <= self.low and self.high <= most

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def mean(values: Sequence[float]) -> float:
    """The mean."""
    return sum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """The variance of the values' mean; infinite of one value."""
    if len(values) < 2:
        return math.inf
    middle = mean(values)
    return sum((value - middle) ** 2 for value in values) / (len(values) - 1) / len(values)


def quantile(degrees: int) -> float:
    """The 97.5 % quantile of Student's t."""
    return STUDENT_T[min(degrees, len(STUDENT_T) - 1)]


def over_pairs(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """The mean of ratios, one per network; its interval is over the networks."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    half = quantile(len(ratios) - 1) * math.sqrt(variance(ratios))
    return Ratio(mean(ratios), mean(ratios) - half, mean(ratios) + half)


def of_means(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """The ratio of two means over independent runs; its interval by Fieller's theorem's first order."""
    a, b = mean(ours), mean(theirs)
    if not b:
        return Ratio(math.nan, math.nan, math.nan)
    share = math.sqrt(variance(ours) + (a / b) ** 2 * variance(theirs)) / b
    half = quantile(min(len(ours), len(theirs)) - 1) * share
    return Ratio(a / b, a / b - half, a / b + half)


def ranks(values: Sequence[float]) -> list[float]:
    """Each value's rank from 0 on; equal values share the mean of theirs."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's."""
    x, y = ranks(a), ranks(b)
    dx, dy = [one - mean(x) for one in x], [one - mean(y) for one in y]
    both = math.sqrt(sum(one * one for one in dx) * sum(one * one for one in dy))
    return sum(p * q for p, q in zip(dx, dy, strict=True)) / both if both else math.nan


def jain(values: Sequence[float]) -> float:
    """Jain's index; 1 if all are 0."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0
