"""Results read back from the documentation's pages, for figures whose runs are not kept."""

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
"""A verdict of a table: the order is as in the paper, a level is not."""
HEADING = re.compile(r"^## (?=Fig\. )", re.MULTILINE)
DETAILS = '<details markdown="1">\n'
RUNS = re.compile(r"^(`experiments/[^`]*`, \d+(?: to \d+)? runs?)\.", re.MULTILINE)
"""The conditions of a figure that does not say which epoch its runs are of."""
EPOCH = re.compile(r"^`experiments/[^`]*`, .* runs?[ ]of epoch (\d+)\.", re.MULTILINE)
BEFORE = "These runs were made before epoch "
"""First words of a paragraph about a change that a figure lacks."""
OURS = re.compile(r"(-?[\d.]+)(?: ± ([\d.]+))?")
CLAIM = "claim"
"""First word of the head of a table of claims."""
RUNS_OF_A_TABLE = 30
"""Number of runs of the full figures that pages have."""


@dataclasses.dataclass(frozen=True)
class Kept:
    """The results that a page has of a figure.

    Attributes:
        figure: The figure.
        rows: The cells of its claims' rows, by the claims' texts.
        means: Our mean of each measure.
        section: The figure's section of the page, with its heading.
    """

    figure: Figure
    rows: Mapping[str, Sequence[str]]
    means: Mapping[Key, float]
    section: str

    @property
    def epoch(self) -> int | None:
        """The results epoch of its runs; None if the page does not say it."""
        found = EPOCH.search(self.section)
        return None if found is None else int(found[1])

    def judge(self, claim: Claim) -> Judged | None:
        """The result of a claim, by the page's number and by the levels of today's rule; None if it has none."""
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
    """Text of a verdict in tables."""
    return LEVEL if judged.far else judged.verdict


def cells(line: str) -> list[str]:
    """The cells of a row."""
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def tables(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """The tables of a text. Each has the last line before the table, and the rows of the table, its head first."""
    before = ""
    for row, lines in itertools.groupby(text.splitlines(), lambda line: line.startswith("|")):
        its = list(lines)
        if row:
            yield before, [cells(line) for line in its if not line.startswith("| ---")]
        else:
            before = next((line for line in reversed(its) if line), "")


def kept(figure: Figure, section: str) -> Kept:
    """Results of a figure, from its section of a page."""
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
    """The sections of a page about figures, by their headings."""
    found = (part for part in HEADING.split(text)[1:])
    return {part.partition("\n")[0]: f"## {part}" for part in found}


def heading(figure: Figure) -> str:
    """Heading of a figure's section on its paper's page."""
    return f"Fig. {figure.name}: {figure.title}"


def read(paper: Paper, text: str) -> dict[str, Kept]:
    """Results of each figure, from the text of a paper's page."""
    known = sections(text)
    return {figure.name: kept(figure, known[heading(figure)]) for figure in paper.figures if heading(figure) in known}


def read_page(paper: Paper, docs: pathlib.Path) -> dict[str, Kept]:
    """Results of each figure, from its paper's page; empty without a page.

    Raises:
        OSError: The page can't be read.
    """
    page = docs / "reproduction" / f"{paper.name}.md"
    return read(paper, page.read_text(encoding="utf-8")) if page.exists() else {}


def renewed(figure: Figure, text: str, its: Kept, epoch: int | None = None) -> str:
    """The text of a figure's section, or of its block on a scheme's page, with the verdicts of today's rule.

    Args:
        figure: The figure.
        text: The text.
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
    """A figure's section that says which changes it lacks, after its conditions; what it said before is left out."""
    parts = [part for part in section.split("\n\n") if not part.startswith(BEFORE)]
    at = next((at for at, part in enumerate(parts) if part.startswith("`experiments/")), len(parts) - 1)
    said = [f"{BEFORE}{one.epoch}: {one.text}." for one in changes]
    return "\n\n".join([*parts[: at + 1], *said, *parts[at + 1 :]])


def blocks(text: str) -> list[str]:
    """The folded blocks of a text."""
    return [DETAILS + part.rpartition("</details>")[0] + "</details>\n" for part in text.split(DETAILS)[1:]]


def block_of(texts: Iterable[str], title: str) -> str:
    """The block whose summary begins with a title; empty without one."""
    return next((one for one in texts if f"<summary>{title};" in one), "")
