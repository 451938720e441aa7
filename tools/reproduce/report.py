"""Tables in Markdown, and where they go."""

import pathlib
import re
import typing

import cells
import figures
import stats
from figures import Claim, Figure, Measure, Paper, Point, Term

Values = typing.Callable[[Point, str, Measure], dict[int, float]]
"""A measure of a scheme at a point, for each seed there is."""

NARROW = 2, 4
"""With up to so many measures and schemes each measure has a table of its own, a column a scheme."""
BETWEEN = re.compile(r"(<!-- measured: (?P<names>[^>]+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def values(store: cells.Store, paper: Paper, figure: Figure) -> Values:
    """Looks values up in what is kept."""
    kept: dict[tuple[str, str], dict] = {}

    def of(point: Point, scheme: str, measure: Measure) -> dict[int, float]:
        key = (point.name, scheme)
        if key not in kept:
            kept[key] = store.runs(store.cell(paper, figure, point, scheme))
        found = {}
        for seed, run in kept[key].items():
            try:
                found[seed] = measure.value(run)
            except KeyError:
                continue
        return found

    return of


def summaries(figure: Figure, of: Values) -> dict[tuple[str, str, str], stats.Summary]:
    """(point, scheme, measure) to its mean, where there are runs."""
    found = {}
    for point in figure.points:
        for scheme in figure.schemes_at(point):
            for measure in figure.measures:
                if seeds := of(point, scheme, measure):
                    found[point.name, scheme, measure.name] = stats.summary(list(seeds.values()))
    return found


def show(ours: stats.Summary | None, digits: int) -> str:
    """Mean ± half of the interval."""
    if ours is None:
        return ""
    half = "" if ours.half is None else f" ± {ours.half:.{digits}f}"
    return f"{ours.mean:.{digits}f}{half}"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a Markdown table."""
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]


def grid(figure: Figure, found: dict) -> list[str]:
    """All points, all schemes, all measures."""
    lines = []
    if len(figure.measures) <= NARROW[0] and len(figure.schemes) <= NARROW[1]:
        for measure in figure.measures:
            rows = [[point.name, *(show(found.get((point.name, scheme, measure.name)), measure.digits)
                                   for scheme in figure.schemes)] for point in figure.points]
            lines += [titled(measure) + ":", "", *table(["", *figure.schemes], rows), ""]
        return lines
    rows = [[point.name, scheme, *(show(found.get((point.name, scheme, measure.name)), measure.digits)
                                   for measure in figure.measures)]
            for point in figure.points for scheme in figure.schemes_at(point)]
    return [*table(["", "scheme", *map(titled, figure.measures)], rows), ""]


def titled(measure: Measure) -> str:
    """A measure with its unit."""
    return f"{measure.name}, {measure.unit}" if measure.unit else measure.name


def beside(figure: Figure, found: dict, schemes: typing.Callable[[str], bool]) -> list[list[str]]:
    """Ours beside the paper's numbers."""
    rows = []
    for (point, scheme, name), theirs in figure.paper.items():
        ours, measure = found.get((point, scheme, name)), figure.measure(name)
        if ours is None or not schemes(scheme):
            continue
        half = "" if ours.half is None else f"{ours.half:.{measure.digits}f}"
        ratio = f"{ours.mean / theirs:.3f}"
        rows.append([f"{titled(measure)}; {point}", scheme, f"{ours.mean:.{measure.digits}f}", half,
                     f"{theirs:.{measure.digits}f}", ratio])
    return rows


def claims(figure: Figure, of: Values, schemes: typing.Callable[[str], bool]) -> list[list[str]]:
    """What became of the paper's claims."""
    def seeds(term: Term) -> dict[int, float]:
        return of(figure.point(term.point), term.scheme, figure.measure(term.measure))

    rows = []
    for claim in figure.claims:
        if not any(schemes(term.scheme) for contrast in claim.contrasts for term in contrast):
            continue
        judged = figures.judge(claim, seeds)
        if judged is not None:
            rows.append([claim.text, *judgement(figure, claim, judged)])
    return rows


def judgement(figure: Figure, claim: Claim, judged: figures.Judged) -> list[str]:
    """Ours, the paper's effect, at how many points it holds, and the verdict."""
    measure = figure.measure(claim.contrasts[0][0].measure)
    digits = 1 if claim.unit == "%" else measure.digits
    unit = claim.unit or measure.unit
    theirs = {"effect": "" if claim.effect is None else f"{claim.effect:.{max(digits, 2)}f} {unit}".rstrip(),
              "above": "> 0", "same": "at most 5 %", "at least": "≥ 0", "shift": ""}[claim.kind]
    points = f"{judged.holds} of {len(claim.contrasts)}" if len(claim.contrasts) > 1 else ""
    inside = judged.ours.half is not None and judged.ours.low <= 0 <= judged.ours.high
    open_end = " (0 inside)" if claim.kind == "effect" and judged.verdict != "not reproduced" and inside else ""
    return [f"{show(judged.ours, digits)} {unit}".rstrip(), theirs, points, judged.verdict + open_end]


BESIDE = ["measure", "scheme", "mean", "± 95 %", "paper", "ratio"]
CLAIMS = ["claim", "ours, paired", "paper", "points", "verdict"]


def of_paper(store: cells.Store, paper: Paper) -> str:
    """All figures of a paper, for docs/reproduction.md."""
    lines = []
    for figure in paper.figures:
        of = values(store, paper, figure)
        found = summaries(figure, of)
        if not found:
            continue
        lines += [f"### {paper.name}, Fig. {figure.name}: {figure.title}", ""]
        lines += [f"`scenarios/{figure.scenario}`, {runs(found)}. {figure.notes}".rstrip(), "", *grid(figure, found)]
        lines += section(BESIDE, beside(figure, found, lambda _: True))
        lines += section(CLAIMS, claims(figure, of, lambda _: True))
    return "\n".join(lines)


def of_schemes(store: cells.Store, papers: typing.Sequence[Paper], names: list[str]) -> str:
    """What papers say of some schemes, and what we measured, for their page."""
    def mine(scheme: str) -> bool:
        # Without its parameters.
        return scheme.split(" ")[0] in names

    lines = []
    for paper in papers:
        for figure in paper.figures:
            if not any(map(mine, figure.schemes)):
                continue
            of = values(store, paper, figure)
            found = summaries(figure, of)
            numbers, said = beside(figure, found, mine), claims(figure, of, mine)
            if numbers or said:
                lines += [f"**{paper.name}, Fig. {figure.name}**: {figure.title}; {runs(found)}", ""]
                lines += section(BESIDE, numbers) + section(CLAIMS, said)
    if lines:
        lines += ["Conditions, definitions and all points: [reproduction](../reproduction.md).", ""]
    return "\n".join(lines)


def section(head: list[str], rows: list[list[str]]) -> list[str]:
    """A table, if it has rows."""
    return [*table(head, rows), ""] if rows else []


def runs(found: dict) -> str:
    """How many runs a number is of."""
    counts = sorted({ours.n for ours in found.values()})
    text = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{text} run{'s' if counts[-1] > 1 else ''}"


def fill(path: pathlib.Path, of: typing.Callable[[list[str]], str]) -> bool:
    """Puts tables between a page's markers; whether that changed it. `of` gives the text of some names; none: keep."""
    def text(match: re.Match) -> str:
        new = of(match["names"].split())
        return f"{match[1]}\n{new}\n{match[3]}" if new else match[0]

    before = path.read_text(encoding="utf-8")
    after = BETWEEN.sub(text, before)
    if after != before:
        path.write_text(after, encoding="utf-8")
    return after != before
