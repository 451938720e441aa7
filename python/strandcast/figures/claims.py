"""Claims held against runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from strandcast.figures.spec import Claim, Contrast, Term
from strandcast.stats import Summary, summary

Seeds = Callable[[Term], Mapping[int, float]]
"""A term's measure for each seed there is."""

REPRODUCED, UNDECIDED, SIGN_ONLY, NOT_REPRODUCED = "reproduced", "undecided", "sign only", "not reproduced"
VERDICTS = (REPRODUCED, UNDECIDED, SIGN_ONLY, NOT_REPRODUCED)


class Judged(NamedTuple):
    """What became of a claim.

    Attributes:
        ours: The mean of its contrasts, each run's with the same seed; in % of the base if the claim is.
        holds: At so many contrasts the sign is right beyond the interval; `same`, `at least`: it holds.
        verdict: `reproduced`, `undecided`, `sign only` or `not reproduced`; empty of a `shift`.
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
    beyond = claim.kind in ("above", "shift")
    fails = NOT_REPRODUCED, UNDECIDED
    holds = sum(verdict(claim, part) not in fails and (not beyond or part.low > 0) for part in parts)
    # A goal is one of every point.
    said = verdict(claim, ours) if claim.kind != "at least" or holds == len(parts) else NOT_REPRODUCED
    return Judged(ours, holds, said)


def contrast_values(contrast: Contrast, seeds: Seeds) -> dict[int, float]:
    """The contrast for each seed that all of its terms have."""
    terms = [(term.factor, seeds(term)) for term in contrast]
    common = set[int].intersection(*(set(values) for _, values in terms))
    return {seed: sum(factor * values[seed] for factor, values in terms) for seed in common}


def scaled(values: list[float], factor: float) -> Summary:
    """Summary of the values times a factor."""
    return summary([value * factor for value in values])


def verdict(claim: Claim, ours: Summary) -> str:
    """What becomes of a claim that comes out so."""
    mean, low, high = ours.mean, ours.low, ours.high
    match claim.kind:
        case "effect":
            assert claim.effect is not None, "an effect has its number"
            if mean * claim.effect <= 0:
                return NOT_REPRODUCED
            near, far = sorted((0.5 * claim.effect, 1.5 * claim.effect))
            if low > far or high < near:
                return SIGN_ONLY
            # A wide interval overlaps easily: one that holds 0 says nothing of an effect.
            return UNDECIDED if low <= 0 <= high else REPRODUCED
        case "level":
            assert claim.effect is not None, "a level has its number"
            near, far = (claim.effect * (1 + sign * claim.within / 100) for sign in (-1, 1))
            if near <= mean <= far:
                return REPRODUCED
            return UNDECIDED if low <= far and high >= near else NOT_REPRODUCED
        case "above":
            return REPRODUCED if low > 0 else SIGN_ONLY if mean > 0 else NOT_REPRODUCED
        case "same":
            if abs(mean) > claim.within:
                return NOT_REPRODUCED
            return REPRODUCED if low >= -claim.within and high <= claim.within else UNDECIDED
        case "at least":
            return REPRODUCED if high >= 0 else NOT_REPRODUCED
        case "shift":
            return ""
    raise ValueError(claim.kind)
