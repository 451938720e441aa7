"""Report pages: a paper's claims, our measurements, and the commands that repeat them."""

from __future__ import annotations

import collections
import dataclasses
import functools
import pathlib
import re
import shlex
from collections.abc import Mapping, Sequence

import jinja2
from markupsafe import Markup, escape

import strandcast.figures.draw as draw
import strandcast.figures.tables as tables
from strandcast.figures.claims import VERDICTS, Judged
from strandcast.figures.headline import case_of, cases, default_and_best
from strandcast.figures.manifest import Manifest, Origin, forget, note, noted, whole
from strandcast.figures.results import Found, cell
from strandcast.figures.spec import Claim, Figure, Finding, Paper, Term
from strandcast.version import VERSION, results_epoch


@dataclasses.dataclass(frozen=True)
class Row:
    """The result of a claim, in words.

    Attributes:
        claim: The paper's statement.
        theirs: The paper's number, or its words.
        ours: Our mean.
        half: Half of the mean's 95 % interval.
        points: Number of points at which the claim holds, and number of all its points.
        verdict: `reproduced`, `partly`, `undecided`, `contradicted`, or empty if the claim is not judged.
        default: Whether the claim is judged with the default assumptions instead of an alternative.
        why: Titles of the findings and deviations that explain a failure.
        binds: Limit that keeps the flows from being faster.
        contrasts: Number of contrasts in the mean.
        commands: Commands that run the cells of the first contrast.
    """

    claim: str
    theirs: str
    ours: str
    half: str
    points: str
    verdict: str
    default: bool
    why: tuple[str, ...]
    binds: str
    contrasts: int
    commands: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Part:
    """Section of a figure."""

    figure: Figure
    picture: str
    runs: str
    origin: str
    command: str
    rows: tuple[Row, ...]
    numbers: Sequence[Sequence[str]]
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """Returns the number of claims with each verdict, under the default assumptions."""
        return collections.Counter(row.verdict for row in self.rows if row.verdict and row.default)


def report(
    paper: Paper, results: Mapping[str, Found], folder: pathlib.Path, made: Manifest, papers: Sequence[Paper]
) -> pathlib.Path:
    """Writes a paper's page, `NAME.html`, and the index of all pages in the folder, `index.html`.

    The page shows the pictures of `draw.figure` in that folder, and needs no other files.

    Args:
        paper: The paper.
        results: Results of runs, by figures' names; a figure without runs is left out.
        folder: Folder of the pages; created if it does not exist.
        made: Manifest of the pictures. The page shows it, and has explanations only if its runs are full.
        papers: Papers that the index may list.

    Raises:
        OSError: A file can't be written.
    """
    parts = [
        part_of(paper, figure, results[figure.name], made)
        for figure in paper.figures
        if figure.name in results and results[figure.name].seeds
    ]
    default, best = default_and_best(paper, cases(paper, results))
    made = dataclasses.replace(made, origin=Origin.of(results[part.figure.name].origin for part in parts))
    shown = {part.figure.name for part in parts}
    text = render(
        "report.html",
        paper=paper,
        made=made,
        parts=parts,
        counts={verdict: default.counts[verdict] for verdict in VERDICTS},
        best=best if best.taken else None,
        chosen=tables.chosen(paper, best.taken),
        runs=tables.runs(*(results[name] for name in shown)),
        findings=[one for one in explanations(paper, made) if shown.intersection(one.figures)],
        beside=tables.BESIDE,
    )
    folder.mkdir(parents=True, exist_ok=True)
    forget(folder, paper.name)
    page = whole(folder / f"{paper.name}.html", text)
    note(folder, paper.name, made)
    index(folder, made, papers)
    return page


def explanations(paper: Paper, made: Manifest) -> list[Finding]:
    """Returns the findings about a paper. They come from full runs, so that pages of other runs leave them out."""
    return list(paper.findings) if made.full else []


def index(folder: pathlib.Path, made: Manifest, papers: Sequence[Paper]) -> pathlib.Path:
    """Writes `index.html`, with links to the papers' pages and pictures in the folder that have this manifest.

    Raises:
        OSError: The file can't be written.
    """
    shown = []
    for paper in papers:
        drawn = [(figure, figure.anchor, draw.name(paper, figure)) for figure in paper.figures]
        if made.like(noted(folder, paper.name)):
            shown.append((paper, [one for one in drawn if made.like(noted(folder, one[2]))]))
    return whole(folder / "index.html", render("index.html", papers=shown, made=made))


def part_of(paper: Paper, figure: Figure, found: Found, made: Manifest) -> Part:
    """Returns a figure's section. `figure` is the whole figure, and `found` may have only a part of its points."""
    command = ["strandcast", "figures", paper.name, "--figure", figure.name, *(["--quick"] if made.quick else [])]
    number = found.counts[1]
    command += [] if number == paper.runs and made.full else ["--runs", str(number)]
    judged = [(claim, found.judge(claim)) for claim in found.figure.claims]
    return Part(
        figure=found.figure,
        picture=draw.name(paper, figure),
        runs=tables.runs(found),
        origin=found.origin.said("`"),
        command=shlex.join(command),
        rows=tuple(row_of(paper, found, claim, one, made.quick) for claim, one in judged if one is not None),
        numbers=tables.beside(found, lambda _: True),
        findings=tuple(one for one in explanations(paper, made) if one.figures[0] == figure.name),
    )


def row_of(paper: Paper, found: Found, claim: Claim, judged: Judged, quick: bool) -> Row:
    """Returns the row of a claim."""
    ours, theirs, points, _ = tables.judgement(found.figure, claim, judged)
    case = case_of(paper, found.figure, claim, judged)
    mean, _, half = ours.partition(" ± ")
    number, _, unit = half.partition(" ")
    return Row(
        claim=claim.text,
        theirs=theirs,
        ours=f"{mean} {unit}".rstrip(),
        half=number,
        points=points,
        verdict=judged.verdict,
        default=not case.taken,
        why=(*paper.found(case.figure, claim), *paper.varied(case.figure, claim)),
        binds=tables.binds(found, claim),
        contrasts=len(claim.contrasts),
        commands=tuple(dict.fromkeys(command(paper, found, term, quick) for term in claim.contrasts[0])),
    )


def command(paper: Paper, found: Found, term: Term, quick: bool) -> str:
    """Returns the command that runs the scheme of a term at its point."""
    figure = found.figure
    point = figure.point(term.point)
    wanted = cell(paper, figure, point, term.scheme, quick=quick)
    words = ["strandcast", "simulate", paper.shown(figure, point)]
    for setting in wanted.scenario.settings:
        words += ["--set", setting]
    count = len(found.seeds.get(term.key, {}))
    return shlex.join([*words, "--scheme", paper.specs[term.scheme], "--runs", str(max(count, 1))])


# Text


@functools.cache
def environment() -> jinja2.Environment:
    """Returns the environment of the templates."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("strandcast.figures"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    made.filters["prose"] = prose
    return made


def prose(text: str) -> Markup:
    """Converts text to HTML: code between backticks, emphasised words between stars."""
    code = re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text)))
    return Markup(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", code))


def render(template: str, **values: object) -> str:
    """Fills a template with these values."""
    common = {"version": VERSION, "epoch": results_epoch()}
    return environment().get_template(template).render(**common, **values)
