"""Claims held against runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from strandcast.figures.spec import Claim, Contrast, Term
from strandcast.stats import Summary, summary

Seeds = Callable[[Term], Mapping[int, float]]
"""A term's measure for each seed there is."""

REPRODUCED, PARTLY, UNDECIDED, CONTRADICTED = "reproduced", "partly", "undecided", "contradicted"
VERDICTS = (REPRODUCED, PARTLY, UNDECIDED, CONTRADICTED)

EFFECT = 0.5, 1.5
"""Between these multiples of the paper's number an effect is reproduced,"""
DEFICIT = 1 / 1.5, 1.5
"""An effect is reproduced between these multiples of the paper's number."""
FAR = 3.0
"""Factor from which on an effect, larger or smaller than the paper's, is another one."""
WIDE = 0.5
"""Part of the paper's number: an interval that is wider decides nothing but what it excludes."""


class Judged(NamedTuple):
    """The result of checking a claim.

    Attributes:
        ours: The mean of its contrasts, each run's with the same seed; in % of the base if the claim is.
        holds: The claim is reproduced at this number of contrasts; for a `shift`, the sign is right beyond the
        interval.
        verdict: `reproduced`, `partly`, `undecided` or `contradicted`; empty of a `shift`.
    """

    ours: Summary
    holds: int
    verdict: str


def judge(claim: Claim, seeds: Seeds) -> Judged | None:
    """Holds a claim against the runs; None if no seed has all that it needs."""
    each = [contrast_values(contrast, seeds) for contrast in claim.contrasts]
    common = sorted(set[int].intersection(*(set(values) for values in each)))
    if not common:
        return None
    scale = [1.0] * (len(each) + 1)
    if claim.base is not None:
        bases = [
            summary([values[seed] for seed in common]).mean
            for values in (contrast_values(base, seeds) for base in claim.base)
        ]
        scale = [100 / base if base else float("nan") for base in (*bases, sum(bases) / len(bases))]
    ours = scaled([sum(values[seed] for values in each) / len(each) for seed in common], scale[-1])
    parts = [scaled([values[seed] for seed in common], factor) for values, factor in zip(each, scale, strict=False)]
    if claim.kind == "shift":
        return Judged(ours, sum(part.low > 0 for part in parts), "")
    verdicts = [verdict(claim, part) for part in parts]
    said = verdict(claim, ours) if claim.of_mean else everywhere(verdicts)
    return Judged(ours, verdicts.count(REPRODUCED), said)


def contrast_values(contrast: Contrast, seeds: Seeds) -> dict[int, float]:
    """The contrast for each seed that all of its terms have."""
    terms = [(term.factor, seeds(term)) for term in contrast]
    common = set[int].intersection(*(set(values) for _, values in terms))
    return {seed: sum(factor * values[seed] for factor, values in terms) for seed in common}


def scaled(values: list[float], factor: float) -> Summary:
    """Summary of the values times a factor."""
    return summary([value * factor for value in values])


def everywhere(verdicts: Sequence[str]) -> str:
    """The verdict on a claim about all of its points, from the verdicts on each point."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    if CONTRADICTED in verdicts:
        return PARTLY if {REPRODUCED, PARTLY} & set(verdicts) else CONTRADICTED
    return UNDECIDED if UNDECIDED in verdicts else PARTLY


def verdict(claim: Claim, ours: Summary) -> str:
    """The verdict on a claim about one point, or about a mean, with this result."""
    low, high, within = ours.low, ours.high, claim.within
    match claim.kind:
        case "effect":
            return sized(claim.number, ours, EFFECT)
        case "deficit":
            return sized(claim.number, ours, DEFICIT)
        case "level":
            return leveled(claim.number, ours, within)
        case "above":
            return REPRODUCED if low > 0 else CONTRADICTED if high <= 0 else UNDECIDED
        case "same":
            if low > within or high < -within:
                return CONTRADICTED
            return REPRODUCED if low >= -within and high <= within else UNDECIDED
        case "at least":
            return REPRODUCED if low >= 0 else CONTRADICTED if high < 0 else UNDECIDED
    raise ValueError(claim.kind)


def sized(theirs: float, ours: Summary, band: tuple[float, float]) -> str:
    """The verdict on our result if a number of the paper's is reproduced between these multiples of it."""
    low, high = sorted((ours.low / theirs, ours.high / theirs))
    # A result of less than a third of it may also have the other sign.
    if high < 1 / FAR or low > FAR:
        return CONTRADICTED
    if high - low > WIDE:
        return UNDECIDED
    return REPRODUCED if low <= band[1] and high >= band[0] else PARTLY


def leveled(theirs: float, ours: Summary, within: float) -> str:
    """The verdict on our result if a level of the paper's is reproduced within `within` per cent of it."""
    low, mean, high = (number / theirs for number in (ours.low, ours.mean, ours.high))
    near, far = 1 - within / 100, 1 + within / 100
    if high < near or low > far:
        return CONTRADICTED
    return REPRODUCED if near <= mean <= far and high - low <= WIDE else UNDECIDED
