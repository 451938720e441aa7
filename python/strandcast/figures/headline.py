"""Numbers of a paper's claims by verdict: for the default assumptions, and for the best choice of alternatives."""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from strandcast.figures.claims import CONTRADICTED, PARTLY, REPRODUCED, Judged
from strandcast.figures.spec import Alternative, Claim, Figure, Paper

Counts = collections.Counter[str]
"""Number of claims, by verdict."""


class Judge(Protocol):
    """Source of the results of a figure's claims: runs, or a page that was made of runs."""

    def judge(self, claim: Claim) -> Judged | None:
        """Returns the result of a claim; None if it is unknown."""
        ...


class Case(NamedTuple):
    """A claim that was judged.

    Attributes:
        figure: Figure of the claim.
        claim: The claim.
        judged: Result of the check.
        taken: Names of the alternatives by which it was judged; empty: the default.
        about: Identity that the claim shares with its versions under other alternatives: the figure's number, and the
            text under the default.
    """

    figure: Figure
    claim: Claim
    judged: Judged
    taken: frozenset[str]
    about: tuple[str, str]

    def without_levels(self) -> Case:
        """Returns the claim judged without regard to the paper's levels."""
        return self._replace(judged=self.judged._replace(verdict=self.judged.without_levels, far=()))


class Headline(NamedTuple):
    """Number of claims with each verdict, for one choice of the assumptions that a paper leaves open.

    Attributes:
        taken: Names of the alternatives; empty: the default.
        counts: Number of claims, by verdict.
        judged: Number of claims that were judged by these alternatives. For the other claims no such alternative
            exists, and the default counts.
    """

    taken: frozenset[str]
    counts: Counts
    judged: int


def cases(paper: Paper, results: Mapping[str, Judge]) -> list[Case]:
    """Returns the judged claims of a paper; claims of published figures come first."""
    figures = sorted(paper.figures, key=lambda figure: not figure.published)
    found = [
        case_of(paper, figure, claim, judged)
        for figure in figures
        if figure.name in results
        for claim in figure.claims
        if (judged := results[figure.name].judge(claim)) is not None
    ]
    return [case for case in found if case.judged.verdict]


def case_of(paper: Paper, figure: Figure, claim: Claim, judged: Judged) -> Case:
    """Builds the case of a claim, with the alternatives by which it was judged."""
    text, taken = claim.text, set[str]()
    for one in itertools.chain(*paper.open):
        if one.marked(claim.text):
            taken.add(one.name)
            text = one.without(text)
    number = re.match(r"\d*", figure.name)
    return Case(figure, claim, judged, frozenset(taken), (number[0] if number else "", text))


def headlines(paper: Paper, judged: Sequence[Case]) -> Iterator[Headline]:
    """Returns the counts for the default, then for each other choice by which some claim was judged."""
    about: dict[tuple[str, str], list[Case]] = {}
    for case in judged:
        about.setdefault(case.about, []).append(case)
    claims = [those for those in about.values() if any(case.figure.published and not case.taken for case in those)]
    known = frozenset(name for case in judged for name in case.taken)
    for choice in itertools.product(*((None, *alternatives) for alternatives in paper.open)):
        taken = names(choice)
        if taken <= known:
            chosen = [best_known(those, taken) for those in claims]
            counts = Counts(case.judged.verdict for case in chosen)
            yield Headline(taken, counts, sum(bool(case.taken) or not taken for case in chosen))


def names(choice: Sequence[Alternative | None]) -> frozenset[str]:
    """Returns the names of the chosen alternatives."""
    return frozenset(one.name for one in choice if one is not None)


def best_known(cases_: Sequence[Case], taken: frozenset[str]) -> Case:
    """Returns the version of a claim that uses most of these alternatives; among equals the first."""
    return max((case for case in cases_ if case.taken <= taken), key=lambda case: len(case.taken))


def default_and_best(paper: Paper, judged: Sequence[Case]) -> tuple[Headline, Headline]:
    """Returns the counts for the default and for the choice with most claims reproduced, then fewest contradicted."""
    default, *others = headlines(paper, judged)
    return default, min((default, *others), key=rank)


def rank(headline: Headline) -> tuple[int, int, int, int]:
    """Returns the sorting key of a headline: less is better."""
    counts = headline.counts
    return -counts[REPRODUCED], counts[CONTRADICTED], -counts[PARTLY], len(headline.taken)
