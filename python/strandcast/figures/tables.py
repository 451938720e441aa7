"""Tables in Markdown, and their places in the documentation."""

from __future__ import annotations

import collections
import functools
import pathlib
import re
import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

import strandcast.figures.pages as pages
from strandcast.figures.claims import CONTRADICTED, PARTLY, REPRODUCED, VERDICTS, Far, Judged
from strandcast.figures.headline import Case, Counts, Judge, cases, default_and_best
from strandcast.figures.manifest import noted, whole
from strandcast.figures.pages import heading, said
from strandcast.figures.results import Found
from strandcast.figures.spec import Abstract, Claim, Figure, Judgement, Measure, Paper
from strandcast.stats import Summary
from strandcast.version import short

Results = Mapping[str, Found]
"""Results of runs for a paper's figures, by their names."""
Judges = Mapping[str, Judge]
"""Sources of the results of a paper's claims, by the figures' names: runs, or the paper's page."""

NARROW = 2, 4
"""Greatest numbers of measures and schemes for which each measure has a table with a column per scheme."""
WIDTH = 118
"""Line width, in characters, of prose that this module writes."""
BETWEEN = re.compile(r"(?P<begin><!-- measured: (?P<names>[^>]+?) -->\n)(?P<text>.*?)(?P<end><!-- end -->)", re.DOTALL)
VARIED = "paper-networks.md"
"""Page with the tables of varied assumptions."""

BESIDE = ["measure", "scheme", "mean", "± 95 %", "paper", "ratio"]
CLAIMS = ["claim", "ours, paired", "paper", "points", "verdict"]
BINDS = "limiting factor"
SCENARIOS = ["point", "schemes", "scenario"]
ALL_CLAIMS = ["figure", "claim", "paper", "ours", "points", "verdict", "why"]
NO_CAUSE = "no cause found"
ABSTRACTS = ["paper", "claim", "paper's number", "ours by default", "ours by a named reading", "cause"]
LEVELS_COUNT, ORDERS_ALONE = "levels count", "orders alone"
"""Names of the present rule of docs/reproduction/method.md, and of the rule before it."""
CAUSES = ["paper", "contradicted", "with a cause", "without"]
VERDICTS_PAGE = "reproduction/verdicts.md"
"""Page with all claims."""
CONDITIONS = (
    "Definitions: [method](../reproduction/method.md); conditions and all points: [reproduction](../reproduction.md)."
)


def show(ours: Summary | None, digits: int) -> str:
    """Returns a mean ± half of its interval."""
    if ours is None:
        return ""
    half = "" if ours.half is None else f" ± {ours.half:.{digits}f}"
    return f"{ours.mean:.{digits}f}{half}"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Returns the lines of a Markdown table."""
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]


def grid(found: Found) -> list[str]:
    """Returns a table of all points, all schemes and all measures."""
    figure = found.figure

    def cells(point: str, scheme: str, measures: Sequence[Measure]) -> Iterator[str]:
        return (show(found.summaries.get((point, scheme, one.name)), one.digits) for one in measures)

    if len(figure.measures) > NARROW[0] or len(figure.schemes) > NARROW[1]:
        rows = [
            [point.name, scheme, *cells(point.name, scheme, figure.measures)]
            for point in figure.points
            for scheme in figure.schemes_at(point)
        ]
        return [*table(["", "scheme", *(one.titled for one in figure.measures)], rows), ""]
    lines = []
    for measure in figure.measures:
        rows = [
            [point.name, *(text for scheme in figure.schemes for text in cells(point.name, scheme, [measure]))]
            for point in figure.points
        ]
        lines += [measure.titled + ":", "", *table(["", *figure.schemes], rows), ""]
    return lines


def beside(found: Found, schemes: Callable[[str], bool]) -> list[list[str]]:
    """Returns a table of our results next to the paper's numbers."""
    rows = []
    for (point, scheme, name), theirs in found.figure.paper.items():
        ours, measure = found.summaries.get((point, scheme, name)), found.figure.measure(name)
        if ours is None or not schemes(scheme):
            continue
        mean, half, paper = (
            "" if number is None else f"{number:.{measure.digits}f}" for number in (ours.mean, ours.half, theirs)
        )
        rows.append([f"{measure.titled}; {point}", scheme, mean, half, paper, f"{ours.mean / theirs:.3f}"])
    return rows


def claims(found: Found, schemes: Callable[[str], bool] = lambda _: True, *, bound: bool = False) -> list[list[str]]:
    """Returns the table of the paper's claims with their results.

    With `bound`, it has the reasons why the flows are not faster.
    """
    rows = []
    for claim in found.figure.claims:
        if not any(schemes(term.scheme) for contrast in claim.contrasts for term in contrast):
            continue
        judged = found.judge(claim)
        if judged is not None:
            its = [claim.text, *judgement(found.figure, claim, judged)]
            rows.append([*its, binds(found, claim)] if bound else its)
    return rows


def scenarios(found: Found) -> list[list[str]]:
    """Returns the hash of each scenario, with the point and the schemes that have it; none without a known commit."""
    its: dict[tuple[str, str], list[str]] = {}
    for (point, scheme), scenario in found.scenarios.items():
        its.setdefault((point, scenario), []).append(scheme)
    rows = [[point, ", ".join(schemes), f"`{short(scenario)}`"] for (point, scenario), schemes in its.items()]
    return rows if found.commits else []


def judgement(figure: Figure, claim: Claim, judged: Judged) -> list[str]:
    """Returns our result, the paper's effect, the number of points at which the claim holds, and the verdict."""
    measure = figure.measure(claim.contrasts[0][0].measure)
    digits = 1 if claim.unit == "%" else measure.digits
    unit = claim.unit or measure.unit
    number = "" if claim.effect is None else f"{claim.effect:.{max(digits, 2)}f} {unit}".rstrip()
    theirs = {
        "effect": number,
        "deficit": f"{number}, × 1.5",
        "level": f"{number} ± {claim.within:g} %",
        "above": "> 0",
        "same": f"at most {claim.within:g} {'%' if claim.base else unit}".rstrip(),
        "at least": "≥ 0",
        "shift": number,
    }[claim.kind]
    points = f"{judged.holds} of {len(claim.contrasts)}" if len(claim.contrasts) > 1 else ""
    return [f"{show(judged.ours, digits)} {unit}".rstrip(), theirs, points, said(judged)]


def binds(found: Found, claim: Claim) -> str:
    """Returns the reasons why the flows of a claim are not faster, each with its number of points."""
    limits: dict[str, collections.Counter[str]] = {}
    for point, scheme in dict.fromkeys((term.point, term.scheme) for one in claim.contrasts for term in one):
        limit = found.limit(point, scheme)
        limits.setdefault(scheme, collections.Counter())["–" if limit == "-" else limit] += 1
    texts = {scheme: counted(limit) for scheme, limit in limits.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{scheme}: {text}" for scheme, text in texts.items())


def counted(limits: collections.Counter[str]) -> str:
    """Returns words with their frequency, the most frequent first."""
    if len(limits) == 1:
        return next(iter(limits))
    return ", ".join(f"{limit} {count} of {limits.total()}" for limit, count in limits.most_common())


def verdicts(paper: Paper, judges: Judges) -> str:
    """Returns the number of claims of each figure with each verdict, for docs/reproduction.md."""
    judged = cases(paper, judges)
    rows = []
    for figure in paper.figures:
        counts = by_default(judged, figure)
        if counts:
            rows.append([link(paper, figure), figure.title, *(str(counts[verdict] or "") for verdict in VERDICTS)])
    default, best = default_and_best(paper, judged)
    rows.append(["all", "by default", *(str(default.counts[verdict]) for verdict in VERDICTS)])
    if best.taken:
        text = f"by the best single choice: {chosen(paper, best.taken)}; {best.judged} claims judged by it"
        rows.append(["all", text, *(str(best.counts[verdict]) for verdict in VERDICTS)])
    return "\n".join([*table(["figure", "", *VERDICTS], rows), ""])


def by_default(judged: Sequence[Case], figure: Figure) -> Counts:
    """Returns the number of claims of a published figure with each verdict, under the default."""
    its = (case for case in judged if case.figure.name == figure.name and figure.published and not case.taken)
    return Counts(case.judged.verdict for case in its)


def chosen(paper: Paper, taken: frozenset[str]) -> str:
    """Returns the names of alternatives, in the paper's order."""
    return " and ".join(one.name for those in paper.open for one in those if one.name in taken)


def of_rules(papers: Sequence[Paper], judges: Mapping[str, Judges]) -> str:
    """Returns the number of each paper's claims with each verdict, with and without regard to printed levels."""
    rows = []
    for paper in papers:
        judged = cases(paper, judges[paper.name])
        if not judged:
            continue
        for rule, those in (LEVELS_COUNT, judged), (ORDERS_ALONE, [case.without_levels() for case in judged]):
            default, best = default_and_best(paper, those)
            for its in dict.fromkeys(one.taken for one in (default, best)):
                one = best if its else default
                choice = chosen(paper, its) or "default"
                rows.append([paper.source.short, choice, rule, *(str(one.counts[verdict]) for verdict in VERDICTS)])
    return "\n".join([*table(["paper", "choice", "rule", *VERDICTS], rows), ""]) if rows else ""


def of_abstracts(papers: Sequence[Paper], judges: Mapping[str, Judges]) -> str:
    """Returns the claims of the papers' abstracts in one table. A paper without results has no rows."""
    rows = []
    for paper in papers:
        for one in paper.abstract if judges[paper.name] else ():
            named = [f"{its.by}: {outcome(paper, judges[paper.name], its)}" for its in one.readings]
            default = outcome(paper, judges[paper.name], one.default)
            cause = cause_of(paper, judges[paper.name], one)
            rows.append([its_page(paper), one.text, one.paper, default, "; ".join(named), cause])
    return "\n".join([*table(ABSTRACTS, rows), ""]) if rows else ""


def its_page(paper: Paper) -> str:
    """Returns the link to a paper's page."""
    return f"[{paper.source.short}](reproduction/{paper.name}.md)"


def outcome(paper: Paper, judges: Judges, one: Judgement) -> str:
    """Returns our number and the verdict on it, with a link to the figure; words if it was not run."""
    figure, claim = found_claim(paper, one)
    judged = judges[figure.name].judge(claim) if figure.name in judges else None
    if judged is None:
        return "not run"
    ours, _, points, verdict = judgement(figure, claim, judged)
    at = f" ({points} points)" if points and verdict else ""
    place = f"reproduction/{paper.name}.md#{anchor(heading(figure))}"
    its = judges[figure.name]
    old = paper.changed(figure, its.epoch) if isinstance(its, pages.Kept) else ()
    before = f", before epoch {max(one.epoch for one in old)}" if old else ""
    return f"{ours}{at}, [{verdict or f'Fig. {figure.name}'}]({place}){before}"


def found_claim(paper: Paper, one: Judgement) -> tuple[Figure, Claim]:
    """Returns the figure and the claim of these names.

    Raises:
        LookupError: The paper has no such claim.
    """
    for figure in paper.figures:
        for claim in figure.claims:
            if (figure.name, claim.text) == (one.figure, one.claim):
                return figure, claim
    raise LookupError(f"{paper.name}: there is no claim {one.claim} of Fig. {one.figure}")


def cause_of(paper: Paper, judges: Judges, one: Abstract) -> str:
    """Returns the known causes of the failure of an abstract's claim under the default, as links."""
    figure, claim = found_claim(paper, one.default)
    judged = judges[figure.name].judge(claim) if figure.name in judges else None
    if judged is None or judged.verdict == REPRODUCED:
        return ""
    found = [one.cause] if one.cause else paper.found(figure, claim)
    place = f"reproduction/{paper.name}.md#what-we-found"
    if found:
        return ", ".join(f"[{title}]({place})" for title in found)
    if judged.verdict not in (CONTRADICTED, PARTLY):
        return ""
    return f"{NO_CAUSE}; tried: {one.tried}" if one.tried else NO_CAUSE


def of_claims(paper: Paper, judges: Judges) -> str:
    """Returns all claims of a paper in one table, with the causes of failures."""
    rows = []
    for case in cases(paper, judges):
        if case.figure.published:
            ours, theirs, points, verdict = judgement(case.figure, case.claim, case.judged)
            its = [link(paper, case.figure, ""), case.claim.text, theirs, ours, points, verdict]
            causes = why(paper, case.figure, case.claim, case.judged.verdict)
            rows.append([*its, "; ".join([*levels(case), causes]) if causes else ""])
    return claims_table(rows)


def levels(case: Case) -> list[str]:
    """Returns the levels that are far from the paper's, for a claim whose order agrees with the paper."""
    return [level(case.figure, one) for one in case.judged.far]


def level(figure: Figure, one: Far) -> str:
    """Returns the text of a level that is far from the paper's."""
    measure = figure.measure(one.term.measure)
    ours, paper = (f"{number:.{measure.digits}f}" for number in (one.ours, one.paper))
    return f"{one.term.scheme} at {one.term.point}: {ours} {measure.unit}".rstrip() + f", paper {paper}"


def claims_table(rows: list[list[str]]) -> str:
    """Returns the table of a paper's claims, with the number of failed claims that have a cause."""
    said = [
        f"{known} of {known + unknown} claims that are {words}"
        for verdict, words in ((CONTRADICTED, "contradicted"), (PARTLY, "reproduced in part"))
        for known, unknown in [with_cause(rows, verdict)]
        if known + unknown
    ]
    counts = [f"With a cause: {', '.join(said)}.", ""] if said else []
    return "\n".join([*table(ALL_CLAIMS, rows), "", *counts])


def with_cause(rows: list[list[str]], verdict: str) -> tuple[int, int]:
    """Returns, for the claims of a table with this verdict, the numbers with and without a cause."""
    whys = [row[-1] for row in rows if row[-2].partition(" ")[0] == verdict]
    unknown = sum(why.endswith(NO_CAUSE) for why in whys)
    return len(whys) - unknown, unknown


def rows_of(text: str) -> list[list[str]]:
    """Returns the rows of a table of claims on a page."""
    return [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| [")]


def of_causes(docs: pathlib.Path, papers: Sequence[Paper]) -> str:
    """Returns the number of contradicted claims of each paper that have a cause, from the page of all claims."""
    page = docs / VERDICTS_PAGE
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    its = {match["names"]: match["text"] for match in BETWEEN.finditer(text)}
    theirs = [(paper.source.short, rows_of(its.get(f"claims {paper.name}", ""))) for paper in papers]
    counts = [(paper, with_cause(rows, CONTRADICTED)) for paper, rows in theirs if rows]
    total = "all", tuple(sum(column) for column in zip(*(count for _, count in counts), strict=True))
    rows = [[paper, str(sum(count)), *map(str, count)] for paper, count in (*counts, total)]
    return "\n".join([*table(CAUSES, rows), ""]) if counts else ""


def renewed_claims(paper: Paper, before: str) -> str:
    """Updates the causes in the table of a paper's claims.

    The rest of the table does not change, and no runs are needed.

    Claims that the paper no longer has keep their cause. Without a table, the result is empty.
    """
    known = {(figure.name, claim.text): (figure, claim) for figure in paper.figures for claim in figure.claims}
    rows = rows_of(before)
    for row in rows:
        figure = row[0][1 : row[0].index("](")]
        if (figure, row[1]) in known:
            row[-1] = why(paper, *known[figure, row[1]], row[-2])
    return claims_table(rows) if rows else ""


def why(paper: Paper, figure: Figure, claim: Claim, verdict: str) -> str:
    """Returns the known causes of a claim's failure, as links."""
    if verdict not in (CONTRADICTED, PARTLY):
        return ""
    found = [f"[{title}]({paper.name}.md#what-we-found)" for title in paper.found(figure, claim)]
    place = f"../{VARIED}#{anchor(f'{paper.source.short}, varied')}"
    varied = [f"[{title}]({place})" for title in paper.varied(figure, claim)]
    return ", ".join([*found, *varied]) or NO_CAUSE


def link(paper: Paper, figure: Figure, folder: str = "reproduction/") -> str:
    """Returns the link from a page of this folder to a figure's section.

    The anchor is the heading in lower case, without punctuation.
    """
    return f"[{figure.name}]({folder}{paper.name}.md#{anchor(heading(figure))})"


def anchor(title: str) -> str:
    """Returns the anchor of a section with this heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def findings(paper: Paper) -> str:
    """Returns the findings about a paper's runs, as a list for its page."""
    items = (f"- **{one.title[:1].upper()}{one.title[1:]}.** {one.text}" for one in paper.findings)
    return "".join(
        textwrap.fill(item, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"
        for item in items
    )


def of_paper(paper: Paper, results: Results, before: str, epochs: Callable[[Figure], int | None]) -> str:
    """Returns all figures of a paper with their pictures and folded tables, for its page in docs/reproduction.

    Args:
        paper: The paper.
        results: Results of runs. The sections of other figures stay, with verdicts by the present rule.
        before: Present text of the page.
        epochs: Function that returns the results epoch of a figure's picture.
    """
    kept = pages.read(paper, before)
    parts = []
    for figure in paper.figures:
        found = results.get(figure.name)
        if found is not None and found.seeds:
            epoch = epochs(figure)
            made = runs(found) if epoch is None else f"{runs(found)} of epoch {epoch}"
            origin = found.origin.said("`")
            by = f"{origin[:1].upper()}{origin[1:]}. " if origin else ""
            conditions = f"`{paper.shown(figure)}`, {made}. {by}{figure.notes}".rstrip()
            every = [
                *section(BESIDE, beside(found, lambda _: True)),
                *section([*CLAIMS, BINDS], claims(found, bound=True)),
                *section(SCENARIOS, scenarios(found)),
            ]
            parts.append("\n".join(of_figure(paper, figure, conditions, [*grid(found), *every])))
        elif figure.name in kept:
            its, epoch = kept[figure.name], epochs(figure)
            new = pages.renewed(figure, its.section, its, epoch)
            parts.append(pages.with_changes(new, paper.changed(figure, epoch)).rstrip("\n") + "\n")
    return "\n".join(parts)


def of_figure(paper: Paper, figure: Figure, conditions: str, its: list[str]) -> list[str]:
    """Returns a figure's section: its picture, its conditions, the command that makes it, and its tables."""
    picture = f"../figures/{paper.name}-{figure.anchor}.svg"
    alt = f"Fig. {figure.name} of {paper.source.short}: {figure.title}"
    return [
        f"## {heading(figure)}",
        "",
        f"![{alt}]({picture})",
        "",
        conditions,
        "",
        f"`{shlex.join(['strandcast', 'figures', paper.name, '--figure', figure.name])}`",
        "",
        *folded("Tables: all points, the paper's numbers, its claims", its),
    ]


def folded(summary: str, lines: list[str]) -> list[str]:
    """Returns lines that are shown when a reader opens them."""
    return ['<details markdown="1">', f"<summary>{summary}</summary>", "", *lines, "</details>", ""]


def of_schemes(
    papers: Sequence[Paper],
    results: Mapping[str, Results],
    kept: Mapping[str, Mapping[str, pages.Kept]],
    names: Sequence[str],
    before: str,
) -> str:
    """Returns the papers' numbers about some schemes, with our results, for the schemes' page; empty without results.

    The text of figures without results stays, with verdicts by the present rule.
    """

    def mine(scheme: str) -> bool:
        # Without its parameters.
        return scheme.split(" ", maxsplit=1)[0] in names

    theirs = [paper for paper in papers if any(mine(scheme) for one in paper.figures for scheme in one.schemes)]
    if any(not results.get(paper.name) and not kept[paper.name] for paper in theirs):
        return ""
    lines: list[str] = []
    known = pages.blocks(before)
    for paper in theirs:
        for figure in paper.figures:
            title = f"{paper.source.short}, Fig. {figure.name}: {figure.title}"
            found, block = results.get(paper.name, {}).get(figure.name), pages.block_of(known, title)
            if found is not None:
                numbers, claimed = beside(found, mine), claims(found, mine)
                if numbers or claimed:
                    lines += folded(f"{title}; {runs(found)}", section(BESIDE, numbers) + section(CLAIMS, claimed))
            elif block and figure.name in kept[paper.name]:
                lines += [*pages.renewed(figure, block, kept[paper.name][figure.name]).splitlines(), ""]
    if lines:
        lines += [CONDITIONS, ""]
    return "\n".join(lines)


def section(head: list[str], rows: list[list[str]]) -> list[str]:
    """A table, if it has rows."""
    return [*table(head, rows), ""] if rows else []


def runs(*results: Found) -> str:
    """Returns the text for the number of runs of results."""
    counts = [found.counts for found in results]
    fewest, most = min((few for few, _ in counts), default=0), max((many for _, many in counts), default=0)
    text = f"{most}" if fewest == most else f"{fewest} to {most}"
    return f"{text} run{'' if most == 1 else 's'}"


def fill(page: pathlib.Path, of: Callable[[list[str], str], str]) -> bool:
    """Puts tables between a page's markers. Returns whether the page changed.

    Args:
        page: The page.
        of: Function that returns a new text, from the names in a marker and the present text; None: the text stays.

    Raises:
        OSError: The page can't be read or written.
    """

    def text(match: re.Match[str]) -> str:
        new = of(match["names"].split(), match["text"])
        return f"{match['begin']}\n{new}\n{match['end']}" if new else match[0]

    before = page.read_text(encoding="utf-8")
    after = BETWEEN.sub(text, before)
    if after != before:
        whole(page, after)
    return after != before


def write(docs: pathlib.Path, papers: Sequence[Paper], results: Mapping[str, Results]) -> list[pathlib.Path]:
    """Fills the tables of all pages. Returns the pages that changed.

    Args:
        docs: Folder of the pages.
        papers: All papers.
        results: Results of runs, by names of papers and figures. Other figures keep the results on the papers' pages.

    Raises:
        OSError: A page can't be read or written.
    """

    def of_page(names: list[str], before: str) -> str:
        for paper in papers:
            if names == [paper.name]:
                return of_paper(paper, results.get(paper.name, {}), before, functools.partial(epoch_of, docs, paper))
            if names == ["findings", paper.name]:
                return findings(paper)
        return ""

    folder = docs / "reproduction"
    theirs = [page for paper in papers if (page := folder / f"{paper.name}.md").exists()]
    changed = [page for page in theirs if fill(page, of_page)]
    kept = {paper.name: pages.read_page(paper, docs) for paper in papers}
    judges: dict[str, Judges] = {name: {**its, **results.get(name, {})} for name, its in kept.items()}

    def text(names: list[str], before: str) -> str:
        if names == ["causes"]:
            return of_causes(docs, papers)
        if names == ["rules"]:
            return of_rules(papers, judges)
        if names == ["abstracts"]:
            return of_abstracts(papers, judges)
        for paper in papers:
            if names == ["claims", paper.name] and not judges[paper.name]:
                return renewed_claims(paper, before)
            for wanted, of in (["verdicts", paper.name], verdicts), (["claims", paper.name], of_claims):
                if names == wanted:
                    return of(paper, judges[paper.name]) if judges[paper.name] else ""
        return of_page(names, before) or of_schemes(papers, results, kept, names, before)

    # The page that counts the verdicts' causes comes after that of the verdicts.
    schemes = sorted((docs / "schemes").glob("*.md"))
    files = (*(page for page in (folder / "verdicts.md", *schemes, docs / "reproduction.md") if page.exists()),)
    return [*changed, *(page for page in files if fill(page, text))]


def epoch_of(docs: pathlib.Path, paper: Paper, figure: Figure) -> int | None:
    """Returns the results epoch of a figure's picture, from the manifest of pictures; None without a manifest."""
    made = noted(docs / "figures", f"{paper.name}-{figure.anchor}")
    return None if made is None else made.epoch
