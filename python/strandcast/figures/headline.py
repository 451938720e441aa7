"""Numbers of a paper's claims by verdict, by default and by the best single choice of an open assumption."""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from strandcast.figures.claims import CONTRADICTED, PARTLY, REPRODUCED, Judged
from strandcast.figures.spec import Alternative, Claim, Figure, Paper

Counts = collections.Counter[str]
"""Verdict to number of claims."""


class Judge(Protocol):
    """Source of the results of a figure's claims: runs, or a page that was made of runs."""

    def judge(self, claim: Claim) -> Judged | None:
        """The result of a claim; None if it is unknown."""
        ...


class Case(NamedTuple):
    """A claim that was judged.

    Attributes:
        figure: Its figure.
        claim: The claim.
        judged: What became of it.
        taken: By which alternatives, by their names; none: by default.
        about: What it has in common with the same claim judged otherwise: the figure's number and the text by default.
    """

    figure: Figure
    claim: Claim
    judged: Judged
    taken: frozenset[str]
    about: tuple[str, str]

    def without_levels(self) -> Case:
        """The claim as it was judged before the paper's levels counted."""
        return self._replace(judged=self.judged._replace(verdict=self.judged.without_levels, far=()))


class Headline(NamedTuple):
    """Number of claims with each verdict, for one choice of the assumptions that a paper leaves open.

    Attributes:
        taken: The alternatives, by name; none: the default.
        counts: Verdict to number of claims.
        judged: How many of these were judged by it; the others know no such alternative and are those of the default.
    """

    taken: frozenset[str]
    counts: Counts
    judged: int


def cases(paper: Paper, results: Mapping[str, Judge]) -> list[Case]:
    """The claims of a paper that were judged; those of published figures come first."""
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
    """A claim, with what it was judged by."""
    text, taken = claim.text, set[str]()
    for one in itertools.chain(*paper.open):
        if one.marked(claim.text):
            taken.add(one.name)
            text = one.without(text)
    number = re.match(r"\d*", figure.name)
    return Case(figure, claim, judged, frozenset(taken), (number[0] if number else "", text))


def headlines(paper: Paper, judged: Sequence[Case]) -> Iterator[Headline]:
    """The counts by default, then by each other choice that some claim was judged by."""
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
    """The alternatives that are taken."""
    return frozenset(one.name for one in choice if one is not None)


def best_known(cases_: Sequence[Case], taken: frozenset[str]) -> Case:
    """Returns the claim with most of these alternatives taken; among equals the first, of a published figure."""
    return max((case for case in cases_ if case.taken <= taken), key=lambda case: len(case.taken))


def default_and_best(paper: Paper, judged: Sequence[Case]) -> tuple[Headline, Headline]:
    """The counts by default, and by the choice with most claims reproduced, then fewest contradicted."""
    default, *others = headlines(paper, judged)
    return default, min((default, *others), key=rank)


def rank(headline: Headline) -> tuple[int, int, int, int]:
    """The less the better."""
    counts = headline.counts
    return -counts[REPRODUCED], counts[CONTRADICTED], -counts[PARTLY], len(headline.taken)
