"""Check of a paper's claims against runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from strandcast.figures.spec import Claim, Contrast, Printed, Term
from strandcast.stats import Summary, summary

Seeds = Callable[[Term], Mapping[int, float]]
"""Function that returns a term's value for each seed."""

Levels = Callable[[Term], Printed | None]
"""Function that returns the level that the paper prints for a term's measure, if it prints one."""

REPRODUCED, PARTLY, UNDECIDED, CONTRADICTED = "reproduced", "partly", "undecided", "contradicted"
VERDICTS = (REPRODUCED, PARTLY, UNDECIDED, CONTRADICTED)

EFFECT = 0.5, 1.5
"""An effect is reproduced between these multiples of the paper's number."""
DEFICIT = 1 / 1.5, 1.5
"""The missing rate of a video is reproduced between these multiples of the paper's number."""
FAR = 3.0
"""Factor from which an effect counts as different from the paper's, whether it is larger or smaller."""
WIDE = 0.5
"""Part of the paper's number. An interval that is wider only decides about the values that it excludes."""


class Far(NamedTuple):
    """A level of ours that is far from the paper's level.

    Attributes:
        term: Term that has the level.
        ours: Our mean.
        paper: The paper's number.
    """

    term: Term
    ours: float
    paper: float


class Judged(NamedTuple):
    """The result of checking a claim.

    Attributes:
        ours: Mean of the claim's contrasts; each contrast is of runs with the same seed. In % of the base if the claim
            is in %.
        holds: Number of contrasts at which the claim is reproduced; for a `shift`, number of contrasts whose sign is
            right and whose interval excludes 0.
        verdict: `reproduced`, `partly`, `undecided` or `contradicted`; empty for a `shift`.
        far: Levels that are far from the paper's, in a claim of an order or of “nearly the same”. Because of them the
            claim is `partly` instead of reproduced.
    """

    ours: Summary
    holds: int
    verdict: str
    far: tuple[Far, ...] = ()

    @property
    def without_levels(self) -> str:
        """Returns the verdict without regard to levels."""
        return REPRODUCED if self.far else self.verdict


def no_levels(_term: Term) -> None:
    """Returns None, as for a paper that prints no level."""


def judge(claim: Claim, seeds: Seeds, levels: Levels = no_levels) -> Judged | None:
    """Judges a claim by the runs, and its terms by the paper's levels.

    Returns None if no seed has all runs that the claim needs.
    """
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
    return leveled_order(claim, Judged(ours, verdicts.count(REPRODUCED), said), levels, lambda term: mean(seeds(term)))


def mean(values: Mapping[int, float]) -> float | None:
    """Returns the mean over all seeds; None without seeds."""
    return sum(values.values()) / len(values) if values else None


def leveled_order(claim: Claim, judged: Judged, levels: Levels, ours: Callable[[Term], float | None]) -> Judged:
    """Returns the result of a claim. `partly` replaces `reproduced` if a level is far from the paper's.

    An order between two numbers near zero, or between two numbers far from the paper's, does not reproduce the paper's
    order.
    """
    if claim.kind not in ("above", "same") or judged.verdict != REPRODUCED:
        return judged
    found = tuple(far(claim, levels, ours))
    return judged._replace(verdict=PARTLY, far=found) if found else judged


def far(claim: Claim, levels: Levels, ours: Callable[[Term], float | None]) -> Iterator[Far]:
    """Returns the terms of a claim whose level is far from the paper's, each once."""
    known = set[tuple[str, str, str]]()
    for contrast in claim.contrasts:
        means = {term.key: level for term in contrast if (level := ours(term)) is not None}
        for term in contrast:
            number, level = levels(term), means.get(term.key)
            if number is None or level is None or term.key in known:
                continue
            base = max((abs(other) for key, other in means.items() if key != term.key), default=0.0)
            if not number.near(level, base):
                known.add(term.key)
                yield Far(term, level, number.number)


def contrast_values(contrast: Contrast, seeds: Seeds) -> dict[int, float]:
    """Returns the contrast for each seed that has all of its terms."""
    terms = [(term.factor, seeds(term)) for term in contrast]
    common = set[int].intersection(*(set(values) for _, values in terms))
    return {seed: sum(factor * values[seed] for factor, values in terms) for seed in common}


def scaled(values: list[float], factor: float) -> Summary:
    """Returns the summary of the values times a factor."""
    return summary([value * factor for value in values])


def everywhere(verdicts: Sequence[str]) -> str:
    """Returns the verdict on a claim about all of its points, from the verdicts on each point."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    if CONTRADICTED in verdicts:
        return PARTLY if {REPRODUCED, PARTLY} & set(verdicts) else CONTRADICTED
    return UNDECIDED if UNDECIDED in verdicts else PARTLY


def verdict(claim: Claim, ours: Summary) -> str:
    """Returns the verdict on a claim about one point, or about a mean, with this result."""
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
    """Returns the verdict on our result if the paper's number counts as reproduced between these multiples of it."""
    low, high = sorted((ours.low / theirs, ours.high / theirs))
    # A result of less than a third of it may also have the other sign.
    if high < 1 / FAR or low > FAR:
        return CONTRADICTED
    if high - low > WIDE:
        return UNDECIDED
    return REPRODUCED if low <= band[1] and high >= band[0] else PARTLY


def leveled(theirs: float, ours: Summary, within: float) -> str:
    """Returns the verdict on our result if a level of the paper counts as reproduced within `within` per cent of it."""
    low, mean, high = (number / theirs for number in (ours.low, ours.mean, ours.high))
    near, far = 1 - within / 100, 1 + within / 100
    if high < near or low > far:
        return CONTRADICTED
    return REPRODUCED if near <= mean <= far and high - low <= WIDE else UNDECIDED
