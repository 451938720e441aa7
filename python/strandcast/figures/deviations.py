"""Variations of the assumptions that a paper leaves open, one at a time, and their results for its figures.

A `Deviation` changes one assumption: settings of scenarios, or parameters of a scheme. A paper's `Study` has a list of
deviations, the published figures at some of their points, and the paper's main results. Each claim is judged as in the
figures themselves. Cells that a deviation does not change are run only once.
"""

from __future__ import annotations

import collections
import dataclasses
import pathlib
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import strandcast.figures.gains as gains
from strandcast.figures.claims import REPRODUCED, VERDICTS, Judged
from strandcast.figures.results import cell, collect
from strandcast.figures.spec import Claim, Deviation, Figure, Main, Paper, Sets, Study
from strandcast.figures.tables import BETWEEN, VARIED, WIDTH, fill, folded, runs, show, table
from strandcast.store import Cell, Key, Store

PAGE = VARIED
"""Page whose tables are filled, between `<!-- measured: deviations KEY -->` and `<!-- end -->`."""
DEFAULT = "as it is"


def at(figures: Collection[str], *sets: str) -> Sets:
    """Returns settings that apply at all points of some figures."""
    return lambda figure, _: sets if figure.name in figures else ()


def both(first: Sets, second: Sets) -> Sets:
    """Returns both groups of settings, the first before the second."""
    return lambda figure, point: (*first(figure, point), *second(figure, point))


def reduced(figure: Figure, points: Collection[str] = (), without: Collection[str] = ()) -> Figure:
    """Returns a figure at some of its points and without some schemes.

    A claim keeps the contrasts of the remaining points and schemes. A claim without contrasts is removed.

    Args:
        figure: The figure.
        points: Names of the points to keep; empty: all.
        without: Schemes to remove.
    """
    kept = tuple(one for one in figure.points if not points or one.name in points)
    names = {one.name for one in kept}
    ours = tuple(scheme for scheme in figure.schemes if scheme not in without)

    def stays(claim: Claim, index: int) -> bool:
        contrasts = [claim.contrasts[index], *(claim.base[index : index + 1] if claim.base else ())]
        return all(term.point in names and term.scheme not in without for one in contrasts for term in one)

    def left(claim: Claim) -> Claim:
        indices = [index for index in range(len(claim.contrasts)) if stays(claim, index)]
        base = claim.base and tuple(claim.base[index] for index in indices if index < len(claim.base))
        return dataclasses.replace(claim, contrasts=tuple(claim.contrasts[index] for index in indices), base=base)

    claims = tuple(less for claim in figure.claims if (less := left(claim)).contrasts)
    numbers = {key: value for key, value in figure.paper.items() if key[0] in names and key[1] in ours}
    return dataclasses.replace(figure, schemes=ours, points=kept, claims=claims, paper=numbers, thinned=None)


def varied(paper: Paper, study: Study, deviation: Deviation | None = None, count: int | None = None) -> Paper:
    """Returns the paper with the figures of its study, changed by the deviation if there is one.

    `count` replaces the study's number of runs.
    """
    changed = deviation or Deviation("", DEFAULT)

    def moved(figure: Figure) -> Figure:
        points = tuple(
            dataclasses.replace(point, sets=(*point.sets, *changed.sets(figure, point))) for point in figure.points
        )
        return dataclasses.replace(figure, points=points)

    return dataclasses.replace(
        paper,
        specs={**paper.specs, **changed.specs},
        sets={**paper.sets, **{name: (*paper.sets.get(name, ()), *more) for name, more in changed.schemes.items()}},
        figures=tuple(map(moved, study.figures)),
        runs=count or study.runs,
    )


def studied(paper: Paper, count: int | None = None) -> Iterator[tuple[Deviation | None, Paper]]:
    """Yields the unchanged paper, and then the paper with each deviation; nothing if the paper has no study."""
    if paper.study is not None:
        for one in (None, *paper.study.deviations):
            yield one, varied(paper, paper.study, one, count)


def cells(paper: Paper, *figures: Figure) -> Iterator[Cell]:
    """Returns all cells of the named figures of a paper that `varied` returned; without names, of all figures."""
    for figure in figures or paper.figures:
        for point in figure.points:
            for scheme in figure.schemes_at(point):
                yield cell(paper, figure, point, scheme)


class Outcome(NamedTuple):
    """The results of runs for a deviation.

    Attributes:
        judged: Result of each claim with a verdict, by figure and text; only for figures that have all runs.
        results: Main results as text for tables; empty for a figure that lacks runs.
        runs: Number of runs of each cell.
        lacking: Figures that lack runs.
    """

    judged: Mapping[tuple[str, str], Judged]
    results: tuple[str, ...]
    runs: str
    lacking: tuple[str, ...]

    @property
    def reproduced(self) -> set[tuple[str, str]]:
        """Returns the claims that are reproduced."""
        return {claim for claim, judged in self.judged.items() if judged.verdict == REPRODUCED}


def keys(paper: Paper) -> dict[str, list[Key]]:
    """Returns the store keys of the cells of each figure, for a paper that `varied` returned."""
    return {figure.name: [one.key for one in cells(paper, figure)] for figure in paper.figures}


def incomplete(store: Store, kept: Mapping[str, Iterable[Key]], count: int) -> tuple[str, ...]:
    """Returns the figures that lack runs."""
    seeds = set(range(1, count + 1))
    return tuple(figure for figure, its in kept.items() if any(seeds - store.seeds(key) for key in its))


def outcome(store: Store, paper: Paper, results: Sequence[Main], lacking: tuple[str, ...]) -> Outcome:
    """Returns the stored results for a paper that `varied` returned, without figures that lack runs.

    Raises:
        StoreError: A file of the store can't be read.
    """
    whole = [figure for figure in paper.figures if figure.name not in lacking]
    found = {figure.name: collect(store, paper, figure, runs=paper.runs) for figure in whole}
    judged = {
        (figure.name, claim.text): one
        for figure in whole
        for claim in figure.claims
        if (one := found[figure.name].judge(claim)) is not None and one.verdict
    }
    ours = (found[main.figure].judge(main.claim) if main.figure in found else None for main in results)
    texts = (show(one.ours if one else None, main.digits) for one, main in zip(ours, results, strict=True))
    return Outcome(judged, tuple(texts), runs(*found.values()), lacking)


def text(paper: Paper, store: Store, count: int | None = None) -> str:
    """Returns the table of a paper's study, and the claims that each deviation gains and loses.

    The text is empty if figures of the unchanged paper lack runs.

    A deviation has a row as soon as one of the figures that it changes has all runs. If figures lack runs, the row
    names these figures and shows no counts of verdicts. The last line names the deviations without a row.

    Raises:
        StoreError: A file of the store can't be read.
    """
    study = paper.study
    if study is None:
        return ""
    ((_, first), *others) = studied(paper, count)
    kept = keys(first)
    if incomplete(store, kept, first.runs):
        return ""
    default = outcome(store, first, study.results, ())
    rows, changes, without = [row(study, DEFAULT, "", default, default)], [], []
    for deviation, changed in others:
        assert deviation is not None, "only the first is the paper as it is"
        mine = keys(changed)
        lacking = incomplete(store, mine, changed.runs)
        if {figure for figure, its in mine.items() if its != kept[figure]} <= set(lacking):
            without.append(deviation.title)
            continue
        ours = outcome(store, changed, study.results, lacking)
        rows.append(row(study, deviation.about, deviation.name, ours, default))
        items = [*listed(gains.GAINS, gained(ours, default)), *listed(gains.LOSES, gained(default, ours))]
        changes += [f"- {deviation.title}", *items] if items else []
    rows.append(["the paper", *[""] * (len(VERDICTS) + 4), *(main.paper for main in study.results)])
    head = ["assumption", "is", *VERDICTS, "gains", "loses", "lacks", *(main.label for main in study.results)]
    lines = [conditions(study, default), "", *table(head, rows), ""]
    if changes:
        lines += folded("Claims that each change gains or loses (in parentheses: the default value)", [*changes, ""])
    if without:
        lines += [f"Without runs: {'; '.join(without)}.", ""]
    return "\n".join(lines)


def gained(ours: Outcome, default: Outcome) -> set[tuple[str, str]]:
    """Returns the claims that are reproduced here but not by default, if both have a verdict on them."""
    return (ours.reproduced - default.reproduced) & set(default.judged)


def row(study: Study, about: str, name: str, ours: Outcome, default: Outcome) -> list[str]:
    """Returns the row of a deviation."""
    counts = collections.Counter(one.verdict for one in ours.judged.values())
    verdicts = ("" if ours.lacking else str(counts[verdict]) for verdict in VERDICTS)
    more, less = (by_figure(study, some) for some in (gained(ours, default), gained(default, ours)))
    lacks = f"Fig. {', '.join(ours.lacking)}" if ours.lacking else ""
    return [about, name, *verdicts, more, less, lacks, *ours.results]


def conditions(study: Study, default: Outcome) -> str:
    """Returns the conditions of the numbers, in lines of a page's width."""
    names = ", ".join(figure.name for figure in study.figures)
    said = f"{default.runs} of each cell; {len(default.judged)} claims of Figs {names}. {study.notes}"
    return textwrap.fill(said, WIDTH, break_long_words=False, break_on_hyphens=False)


def by_figure(study: Study, claims: Collection[tuple[str, str]]) -> str:
    """Returns the number of claims per figure."""
    counts = collections.Counter(figure for figure, _ in claims)
    return ", ".join(f"Fig. {figure.name}: {counts[figure.name]}" for figure in study.figures if counts[figure.name])


def listed(word: str, claims: Collection[tuple[str, str]]) -> Iterator[str]:
    """Returns claims as items of a list."""
    for figure, claim in sorted(claims):
        yield gains.item(word, gains.named(figure, claim))


def write(docs: pathlib.Path, texts: Mapping[str, str], papers: Sequence[Paper]) -> list[pathlib.Path]:
    """Fills the page's tables, and stores with each paper the claims that deviations gain.

    Returns the files that changed.

    Args:
        docs: Folder of the page.
        texts: Results of `text`, by papers' names. The table of a paper without a text does not change.
        papers: Papers whose gains are stored.

    Raises:
        OSError: A file can't be read or written.
    """

    def of(names: list[str], _before: str) -> str:
        return texts.get(names[1], "") if len(names) == 2 and names[0] == "deviations" else ""

    page = docs / PAGE
    if not page.exists():
        return []
    changed = [page] if fill(page, of) else []
    found = on_page(page.read_text(encoding="utf-8"), papers)
    kept = (gains.write(paper.folder, found[paper.name]) for paper in papers if paper.name in found)
    return [*changed, *(path for path in kept if path is not None)]


def on_page(page: str, papers: Sequence[Paper]) -> dict[str, dict[str, list[str]]]:
    """Returns the claims that deviations of one assumption gain, by papers' names, as the page's tables list them."""
    its = {match["names"]: match["text"] for match in BETWEEN.finditer(page)}
    return {
        paper.name: gains.listed(text, [one.title for one in paper.study.deviations if not one.several])
        for paper in papers
        if paper.study is not None and (text := its.get(f"deviations {paper.name}")) is not None
    }
