"""Results read from the pages of the documentation, for figures whose runs are not stored."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from strandcast.figures.claims import PARTLY, REPRODUCED, Judged, leveled_order
from strandcast.figures.spec import Change, Claim, Figure, Key, Paper
from strandcast.stats import Summary

LEVEL = f"{PARTLY} (level)"
"""Verdict in a table: the order agrees with the paper, and a level does not."""
HEADING = re.compile(r"^## (?=Fig\. )", re.MULTILINE)
DETAILS = '<details markdown="1">\n'
RUNS = re.compile(r"^(`experiments/[^`]*`, \d+(?: to \d+)? runs?)\.", re.MULTILINE)
"""Pattern of the conditions of a figure without a results epoch."""
EPOCH = re.compile(r"^`experiments/[^`]*`, .* runs?[ ]of epoch (\d+)\.", re.MULTILINE)
BEFORE = "These runs were made before epoch "
"""First words of a paragraph about a later change that a figure does not include."""
OURS = re.compile(r"(-?[\d.]+)(?: ± ([\d.]+))?")
CLAIM = "claim"
"""First word of the heading of a table of claims."""
RUNS_OF_A_TABLE = 30
"""Number of runs of the full figures that pages have."""


@dataclasses.dataclass(frozen=True)
class Kept:
    """Results of a figure on a page.

    Attributes:
        figure: The figure.
        rows: Cells of each claim's row, by the claim's text.
        means: Our mean of each measure.
        section: The figure's section of the page, with its heading.
    """

    figure: Figure
    rows: Mapping[str, Sequence[str]]
    means: Mapping[Key, float]
    section: str

    @property
    def epoch(self) -> int | None:
        """Returns the results epoch of the figure's runs; None if the page does not name it."""
        found = EPOCH.search(self.section)
        return None if found is None else int(found[1])

    def judge(self, claim: Claim) -> Judged | None:
        """Returns the result of a claim, from the page's number and the present rule for levels; None without one."""
        cells = self.rows.get(claim.text)
        if cells is None or (number := OURS.match(cells[1])) is None:
            return None
        mean, half = float(number[1]), number[2]
        ours = Summary(mean, None if half is None else float(half), RUNS_OF_A_TABLE)
        verdict = REPRODUCED if cells[4] == LEVEL else cells[4]
        holds = int(cells[3].partition(" ")[0] or verdict == REPRODUCED)
        judged = Judged(ours, holds, verdict)
        return leveled_order(claim, judged, self.figure.printed, lambda term: self.means.get(term.key))


def said(judged: Judged) -> str:
    """Returns the text of a verdict in tables."""
    return LEVEL if judged.far else judged.verdict


def cells(line: str) -> list[str]:
    """Returns the cells of a row."""
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def tables(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Returns the tables of a text. Each has the last line before the table, its heading and its rows."""
    before = ""
    for row, lines in itertools.groupby(text.splitlines(), lambda line: line.startswith("|")):
        its = list(lines)
        if row:
            yield before, [cells(line) for line in its if not line.startswith("| ---")]
        else:
            before = next((line for line in reversed(its) if line), "")


def kept(figure: Figure, section: str) -> Kept:
    """Reads the results of a figure from its section of a page."""
    names = {measure.titled: measure.name for measure in figure.measures}
    rows: dict[str, Sequence[str]] = {}
    means: dict[Key, float] = {}

    def add(point: str, scheme: str, measure: str, cell: str) -> None:
        number = OURS.match(cell)
        if number is not None and measure in names:
            means[point, scheme, names[measure]] = float(number[1])

    for caption, (head, *its) in tables(section):
        if head[0] == CLAIM:
            rows |= {row[0]: row for row in its}
        elif head[:2] == ["", "scheme"]:
            for row in its:
                for measure, cell in zip(head[2:], row[2:], strict=True):
                    add(row[0], row[1], measure, cell)
        elif not head[0]:
            for row in its:
                for scheme, cell in zip(head[1:], row[1:], strict=True):
                    add(row[0], scheme, caption.removesuffix(":"), cell)
    return Kept(figure, rows, means, section)


def sections(text: str) -> dict[str, str]:
    """Returns the sections of a page about figures, by their headings."""
    found = (part for part in HEADING.split(text)[1:])
    return {part.partition("\n")[0]: f"## {part}" for part in found}


def heading(figure: Figure) -> str:
    """Returns the heading of a figure's section on its paper's page."""
    return f"Fig. {figure.name}: {figure.title}"


def read(paper: Paper, text: str) -> dict[str, Kept]:
    """Reads the results of each figure from the text of a paper's page."""
    known = sections(text)
    return {figure.name: kept(figure, known[heading(figure)]) for figure in paper.figures if heading(figure) in known}


def read_page(paper: Paper, docs: pathlib.Path) -> dict[str, Kept]:
    """Reads the results of each figure from its paper's page; empty without a page.

    Raises:
        OSError: The page can't be read.
    """
    page = docs / "reproduction" / f"{paper.name}.md"
    return read(paper, page.read_text(encoding="utf-8")) if page.exists() else {}


def renewed(figure: Figure, text: str, its: Kept, epoch: int | None = None) -> str:
    """Returns the text of a figure's section, or of its block on a scheme's page, with verdicts by the present rule.

    Args:
        figure: The figure.
        text: Present text.
        its: Results of the figure.
        epoch: The results epoch of its runs, which the section names.
    """
    claims = {claim.text: claim for claim in figure.claims}
    lines = []
    of_claims = False
    for line in text.splitlines(keepends=True):
        row = cells(line) if line.startswith("| ") else []
        of_claims = bool(row) and (of_claims or row[0] == CLAIM)
        judged = its.judge(claims[row[0]]) if of_claims and row[0] in claims else None
        if judged is not None:
            row[4] = said(judged)
        lines.append(line if judged is None else "| " + " | ".join(row) + " |\n")
    new = "".join(lines)
    return new if epoch is None else RUNS.sub(rf"\1 of epoch {epoch}.", new, count=1)


def with_changes(section: str, changes: Sequence[Change]) -> str:
    """Returns a figure's section with a list of the changes that it does not include, after its conditions.

    An earlier list is replaced.
    """
    parts = [part for part in section.split("\n\n") if not part.startswith(BEFORE)]
    at = next((at for at, part in enumerate(parts) if part.startswith("`experiments/")), len(parts) - 1)
    said = [f"{BEFORE}{one.epoch}: {one.text}." for one in changes]
    return "\n\n".join([*parts[: at + 1], *said, *parts[at + 1 :]])


def blocks(text: str) -> list[str]:
    """Returns the folded blocks of a text."""
    return [DETAILS + part.rpartition("</details>")[0] + "</details>\n" for part in text.split(DETAILS)[1:]]


def block_of(texts: Iterable[str], title: str) -> str:
    """Returns the block whose summary begins with a title; empty without one."""
    return next((one for one in texts if f"<summary>{title};" in one), "")
