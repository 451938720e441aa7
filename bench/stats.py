"""Statistics of repeated runs: means with intervals, ratios, percentiles, and differences by trace."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import correlation, fmean, median, stdev, variance

# 97.5 % quantiles of Student's t by number of values, up to 30; beyond, the last one (it is a bound).
STUDENT_T = (
    *(math.inf, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262),
    *(2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093),
    *(2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045),
)
# Percentile bootstrap: resamples, and the share outside of the interval.
RESAMPLES, OUTSIDE = 2000, 0.05


def half_width(values: Sequence[float]) -> float:
    """Half of the 95 % interval of the mean; no interval of a single value."""
    n = len(values)
    return STUDENT_T[min(n, len(STUDENT_T)) - 1] * stdev(values) / math.sqrt(n) if n > 1 else 0.0


@dataclass(frozen=True)
class Mean:
    """A mean with half of its 95 % interval (Student); none of a single value."""

    mean: float
    half: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Mean":
        """The mean of values of one seed or repeat each."""
        return cls(fmean(values), half_width(values))

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half

    def __str__(self) -> str:
        digits = 2 if self.mean < 10 else 1
        return f"{self.mean:.{digits}f} ± {self.half:.{digits}f}" if self.mean or self.half else "0"


def paired(first: Sequence[float], second: Sequence[float]) -> Mean:
    """How much the second is above the first: differences of runs with the same seed."""
    return Mean.of([b - a for a, b in zip(first, second, strict=True)])


def mean_ratio(ours: Sequence[float], theirs: Sequence[float]) -> Mean:
    """A mean to a mean of runs with the same seeds, with the interval of the ratios by seed."""
    mean = fmean(theirs)
    return Mean(fmean(ours) / mean, half_width([one / mean for one in ours]))


def of_means(ours: Sequence[float], theirs: Sequence[float]) -> Mean:
    """The ratio of two means over independent runs; its interval by Fieller's theorem's first order."""
    a, b = fmean(ours), fmean(theirs)
    if not b:
        return Mean(math.nan, math.nan)
    if (fewest := min(len(ours), len(theirs))) < 2:
        return Mean(a / b, math.inf)
    share = math.sqrt(variance(ours) / len(ours) + (a / b) ** 2 * variance(theirs) / len(theirs)) / b
    return Mean(a / b, STUDENT_T[min(fewest, len(STUDENT_T)) - 1] * share)


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Spearman's; equal values share the mean of their ranks."""

    def ranks(values: Sequence[float]) -> list[float]:
        order = sorted(values)
        return [order.index(value) + (order.count(value) - 1) / 2 for value in values]

    return correlation(ranks(a), ranks(b)) if min(len(set(a)), len(set(b))) > 1 else math.nan


@dataclass(frozen=True)
class Interval:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f}–{self.high:.3f})"


def bootstrap(by_trace: Mapping[str, Sequence[float]], of: Callable[[Sequence[float]], float] = median) -> Interval:
    """A statistic of all values, and the interval of it if traces were others: they are drawn with all their cells.

    Values of one trace depend on each other: cells of other latencies and bitrates go over the same links.
    """
    draw = random.Random("bootstrap")
    traces = sorted(by_trace)
    found = []
    for _ in range(RESAMPLES):
        some = [value for trace in draw.choices(traces, k=len(traces)) for value in by_trace[trace]]
        found.append(of(some))
    found.sort()
    cut = int(RESAMPLES * OUTSIDE / 2)
    return Interval(of([v for trace in traces for v in by_trace[trace]]), found[cut], found[-cut - 1])


def percentile(values: Sequence[float], share: float) -> float:
    """The percentile by nearest rank."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Median, and least to most."""
    middle, least, most = median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f}-{most:.{digits}f})"
