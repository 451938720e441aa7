"""Pictures and report pages of the papers' figures, from numbers made up."""

from __future__ import annotations

import collections
import dataclasses
import functools
import html
import itertools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import strandcast as sc
from strandcast import experiments
from strandcast.figures import draw, headline, page, spec, style, tables
from strandcast.figures.claims import VERDICTS
from strandcast.figures.compact import compact
from strandcast.figures.manifest import FULL, Manifest, note, noted
from strandcast.figures.pages import heading
from strandcast.figures.results import Courses, Found, shown
from strandcast.figures.spec import Figure, Paper
from strandcast.stats import Summary

PAPERS = experiments.papers(pathlib.Path(__file__).resolve().parents[2] / "experiments")
ALL = [(paper, figure) for paper in PAPERS for figure in paper.figures]
NAMES = [f"{paper.name} {figure.name}" for paper, figure in ALL]
SOME = ["xu2015 5", "xu2015 12", "cao2016 11", "lee2017 22", "liu2019 7 by parts"]
each = pytest.mark.parametrize(("paper", "figure"), ALL, ids=NAMES)


def one(paper: str, figure: str) -> tuple[Paper, Figure]:
    """A figure by its name."""
    return ALL[NAMES.index(f"{paper} {figure}")]


LINES = {line for paper in PAPERS for views in paper.views.values() for view in views for line in view.curves}
"""All that pictures show over time."""


def sawtooth(runs: int) -> Courses:
    """120 s of them."""
    course = tuple((5.0 * step, Summary(1e4 + step % 4 * 100, 50 if runs > 1 else None, runs)) for step in range(25))
    return dict.fromkeys(LINES, course)


def made_up(figure: Figure, *, runs: int = 3) -> Found:
    """Numbers between one and two at each point, so that all that can be drawn is drawn."""
    seeds = {}
    means = {}
    for point in figure.points:
        for scheme in figure.schemes_at(point):
            means[point.name, scheme] = {"lost_random_packets": 3.0, "lost_queue_packets": 1.0}
            for measure in figure.measures:
                key = point.name, scheme, measure.name
                seeds[key] = {
                    seed: 1 + zlib.crc32(f"{key} {seed}".encode()) % 1000 / 1000 for seed in range(1, 1 + runs)
                }
    return Found(figure, seeds, means, dict.fromkeys(means, sawtooth(runs)))


@functools.cache
def drawn(paper: str, figure: str, quick: bool = False) -> Picture:
    """A picture, laid out as when it is saved."""
    its, whole = one(paper, figure)
    with style.use():
        picture = draw.draw(its, made_up(shown(whole, quick=quick)), draw.remark(its, whole) if quick else "")
        assert picture is not None
        picture.draw_without_rendering()
    return picture


def boxes(picture: Picture) -> dict[str, Bbox]:
    """Where each visible text stands, by what it is."""
    found = {}
    for i, axes in enumerate(picture.axes):
        (left, right), (bottom, top) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
        # There are ticks beyond the ends that nobody sees.
        ticks = [text for text in axes.get_xticklabels() if left <= text.get_position()[0] <= right]
        ticks += [text for text in axes.get_yticklabels() if bottom <= text.get_position()[1] <= top]
        named = [*ticks, axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        for j, text in enumerate(named):
            if text.get_text() and text.get_visible():
                found[f"axes {i}, text {j} {text.get_text()!r}"] = text.get_window_extent()
    for text in picture.texts:
        if text.get_text() != "QUICK":
            found[repr(text.get_text())] = text.get_window_extent()
    for legend in picture.legends:
        found["legend"] = legend.get_window_extent()
    return found


def test_every_figure_of_the_papers_has_a_picture() -> None:
    for paper in PAPERS:
        assert set(paper.views) == {figure.name for figure in paper.figures}


@each
def test_views_speak_of_what_figures_have(paper: Paper, figure: Figure) -> None:
    for part in (figure, shown(figure, quick=True)):
        for view in paper.views[figure.name]:
            keys = {key for point in part.points for key in point.at}
            assert {view.x, view.panel, view.variant, *view.where} - {""} <= keys
            for measure in (*view.measures, *(one.measure for one in view.references)):
                part.measure(measure)
            assert not view.base or view.base in part.schemes


@each
def test_each_figure_says_what_it_shows(paper: Paper, figure: Figure) -> None:
    picture = drawn(paper.name, figure.name)
    texts = {text.get_text() for text in picture.findobj(Text)}
    assert f"Fig. {figure.name}: {figure.title}" in texts
    assert any(text.startswith(f"{paper.source.short}; mean of 3 runs") for text in texts)
    assert "QUICK" not in texts
    for scheme in figure.schemes:
        assert any(text == scheme or text.startswith(f"{scheme}, ") for text in texts), scheme
    for view in paper.views[figure.name]:
        for name in view.measures:
            measure = figure.measure(name)
            assert {name, measure.unit, draw.titled(measure)} & texts
            assert any(measure.unit in text for text in texts), "its unit"


@pytest.mark.parametrize(("paper", "figure"), [one("xu2015", "6"), one("cao2016", "7"), one("liu2019", "7 by parts")])
def test_a_figure_becomes_a_small_svg_that_fills_a_page(paper: Paper, figure: Figure, tmp_path: pathlib.Path) -> None:
    path = draw.figure(paper, figure, made_up(figure), tmp_path, quick=False)
    assert list(tmp_path.iterdir()) == [path]
    assert path is not None
    text = path.read_text(encoding="utf-8")
    assert float(re.findall('width="([0-9.]+)pt"', text)[0]) >= 600
    assert f">Fig. {figure.name}: {figure.title}</text>" in text
    assert len(text) < 100_000
    assert compact(text) == text, "once is enough"


def test_text_in_pictures_is_as_wide_as_it_was_drawn(tmp_path: pathlib.Path) -> None:
    paper, figure = one("xu2015", "12")
    path = draw.figure(paper, figure, made_up(figure), tmp_path, quick=False)
    assert path is not None
    texts = ET.fromstring(path.read_text(encoding="utf-8")).iter("{http://www.w3.org/2000/svg}text")
    widths = {text.text: float(text.get("textLength", 0)) for text in texts}
    picture = drawn("xu2015", "12")
    for text in picture.texts:
        box = text.get_window_extent()
        # Letters on a screen are fitted to its dots.
        assert widths[text.get_text()] == pytest.approx(box.width / picture.dpi * 72, rel=0.05)


@pytest.mark.parametrize("name", [*((name, False) for name in NAMES), *((name, True) for name in SOME)], ids=str)
def test_nothing_overlaps_or_falls_off_the_picture(name: tuple[str, bool]) -> None:
    paper, figure = ALL[NAMES.index(name[0])]
    picture = drawn(paper.name, figure.name, name[1])
    width, height = picture.get_size_inches() * picture.dpi
    texts = boxes(picture)
    for what, box in texts.items():
        assert box.x0 >= -1, what
        assert box.y0 >= -1, what
        assert box.x1 <= width + 1, what
        assert box.y1 <= height + 1, what
    for (a, box), (b, other) in itertools.combinations(texts.items(), 2):
        assert not box.padded(-0.5).overlaps(other.padded(-0.5)), f"{a} on {b}"
    for axes in picture.axes:
        for legend in picture.legends:
            assert not legend.get_window_extent().overlaps(axes.get_window_extent())
        assert axes.get_window_extent().width > 100, "too narrow to read"


def diamonds(picture: Picture) -> list[tuple[float, float]]:
    """The marks of the paper's numbers."""
    lines = [line for axes in picture.axes for line in axes.lines]
    hollow = [line for line in lines if line.get_marker() == "D" and line.get_markerfacecolor() in ("white", "none")]
    return [(x, y) for line in hollow for x, y in np.asarray(line.get_xydata()).tolist()]


@each
def test_the_papers_numbers_stand_where_it_gives_some_and_nowhere_else(paper: Paper, figure: Figure) -> None:
    marks = diamonds(drawn(paper.name, figure.name))
    numbers = {round(number, 9) for number in figure.paper.values()}
    stated = (claim for claim in figure.claims if claim.kind != "deficit")
    numbers |= {round(claim.effect, 9) for claim in stated if claim.effect is not None}
    seen = {round(at, 9) for mark in marks for at in mark}
    assert numbers <= seen
    assert bool(marks) == bool(numbers)
    for x, y in marks:
        assert {round(x, 9), round(y, 9)} & numbers


def test_bands_are_the_intervals() -> None:
    found = made_up(one("xu2015", "5")[1])
    edges = {
        round(float(y), 9)
        for axes in drawn("xu2015", "5").axes
        for band in axes.collections
        if isinstance(band, PolyCollection)
        for path in band.get_paths()
        for _, y in np.asarray(path.vertices).tolist()
    }
    wanted = [ours for (_, _, measure), ours in found.summaries.items() if measure == "throughput"]
    for ours in wanted:
        assert ours.half
        assert {round(ours.mean - ours.half, 9), round(ours.mean + ours.half, 9)} <= edges


def test_one_run_has_no_interval_and_says_so() -> None:
    paper, figure = one("xu2015", "12")
    with style.use():
        picture = draw.draw(paper, made_up(figure, runs=1))
    assert picture is not None
    assert f"{paper.source.short}; mean of 1 run" in [text.get_text() for text in picture.texts]


@pytest.mark.parametrize("name", SOME)
def test_quick_pictures_say_so_across_the_plot(name: str) -> None:
    paper, figure = ALL[NAMES.index(name)]
    picture = drawn(paper.name, figure.name, quick=True)
    (mark,) = [text for text in picture.texts if text.get_text() == "QUICK"]
    box = mark.get_window_extent()
    assert box.width > 0.4 * picture.get_size_inches()[0] * picture.dpi
    assert any("QUICK: few runs" in name for name in boxes(picture))


def test_what_has_no_runs_is_not_drawn(tmp_path: pathlib.Path) -> None:
    paper, figure = one("cao2016", "8")
    assert draw.figure(paper, figure, Found(figure, {}, {}), tmp_path / "new", quick=False) is None
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["5", "8", "11", "14", "11 by parts"])
def test_what_is_half_done_is_drawn_as_far_as_it_is(name: str) -> None:
    paper, figure = one("xu2015", name)
    whole = made_up(figure)
    for every in (3, len(whole.seeds)):
        some = {key: seeds for i, (key, seeds) in enumerate(whole.seeds.items()) if i % every == 0}
        with style.use():
            draw.draw(paper, Found(figure, some, {}))


@pytest.mark.thorough
def test_equal_numbers_make_equal_bytes_in_any_process(tmp_path: pathlib.Path) -> None:
    code = (
        "import pathlib, sys; sys.path.insert(0, sys.argv[1]);"
        "import test_draw as t; from strandcast.figures import draw;"
        "p, f = t.one('liu2019', '6'); draw.figure(p, f, t.made_up(f), pathlib.Path(sys.argv[2]), quick=False);"
        "assert 'matplotlib.pyplot' not in sys.modules, 'global state'"
    )
    here = str(pathlib.Path(__file__).parent)
    for seed in ("1", "2"):
        arguments = [sys.executable, "-c", code, here, str(tmp_path / seed)]
        subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    first, second = ((tmp_path / seed / "liu2019-fig-6.svg").read_bytes() for seed in ("1", "2"))
    assert first == second
    text = (tmp_path / "1" / "liu2019-fig-6.svg").read_text(encoding="utf-8")
    assert not re.search(r"<dc:date>|\d{4}-\d\d-\d\dT", text)


def test_drawing_leaves_the_callers_settings_alone(tmp_path: pathlib.Path) -> None:
    before = dict(mpl.rcParams)
    paper, figure = one("xu2015", "12")
    draw.figure(paper, figure, made_up(figure), tmp_path, quick=False)
    assert dict(mpl.rcParams) == before


@each
def test_schemes_differ_without_colour_too(paper: Paper, figure: Figure) -> None:
    schemes = [scheme for scheme in figure.schemes if scheme in style.LOOKS]
    bars = any(view.kind == "bars" for view in paper.views[figure.name])
    for a, b in itertools.combinations(style.looks(schemes).values(), 2):
        assert a.colour != b.colour
        assert a.marker != b.marker
        red, green, blue = 0.299, 0.587, 0.114
        grey_a, grey_b = (red * r + green * g + blue * b for r, g, b in (to_rgb(a.colour), to_rgb(b.colour)))
        assert not bars or a.hatch != b.hatch or abs(grey_a - grey_b) > 0.2


def test_a_scheme_looks_the_same_in_company() -> None:
    alone, together = style.looks(("mine",)), style.looks(("cmt", "mine", "cmt-la"))
    assert together["cmt"] == style.LOOKS["cmt"]
    assert alone["mine"] == together["mine"]


# Pages


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Pages of all papers but for one figure each that has no runs; pictures are empty."""
    folder = tmp_path_factory.mktemp("pages")
    for paper in PAPERS:
        results = {figure.name: made_up(figure) for figure in paper.figures}
        results[paper.figures[-1].name] = Found(paper.figures[-1], {}, {})
        for figure in paper.figures[:-1]:
            (folder / f"{draw.name(paper, figure)}.svg").touch()
            note(folder, draw.name(paper, figure), Manifest(FULL))
        page.report(paper, results, folder, Manifest(FULL), PAPERS)
    return folder


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_a_page_tells_each_claim_its_numbers_and_how_to_repeat_it(paper: Paper, pages: pathlib.Path) -> None:
    text = (pages / f"{paper.name}.html").read_text(encoding="utf-8")
    plain = html.unescape(re.sub("<[^>]+>", " ", text))
    *figures, missing = paper.figures
    assert f"Fig. {missing.name}: {missing.title}" not in plain
    for figure in figures:
        found = made_up(figure)
        assert f"Fig. {figure.name}: {figure.title}" in plain
        assert shlex.join(["strandcast", "figures", paper.name, "--figure", figure.name, "--runs", "3"]) in plain
        for claim in figure.claims:
            judged = found.judge(claim)
            assert judged
            row = html.unescape(re.sub("<[^>]+>", " ", row_of(text, figure, claim.text)))
            assert judged.verdict in row
            digits = 1 if claim.unit == "%" else figure.measure(claim.contrasts[0][0].measure).digits
            assert f" {judged.ours.mean:.{digits}f}" in row
            assert "random loss" in row
            if claim.effect is not None:
                assert f" {claim.effect:.{max(digits, 2)}f}" in row


def row_of(text: str, figure: Figure, claim: str) -> str:
    """A claim's row in the table of its figure."""
    section = text[text.index(f'<h2 id="fig-{re.sub("[^0-9a-z]+", "-", figure.name)}">') :]
    start = section.index(f"<tr><td>{html.escape(claim)}</td>")
    return section[start : section.index("</tr>", start)]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_commands_of_a_page_are_right(paper: Paper, pages: pathlib.Path, root: pathlib.Path) -> None:
    text = (pages / f"{paper.name}.html").read_text(encoding="utf-8")
    commands = {html.unescape(one) for one in re.findall("<pre>(strandcast simulate .*?)</pre>", text)}
    assert commands
    for command in sorted(commands)[:20]:
        words = shlex.split(command)
        sets = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
        sc.Scenario.load(root / words[2]).with_sets(sets)
        assert words[words.index("--scheme") + 1] in paper.specs.values()
        assert words[words.index("--runs") + 1] == "3"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_a_page_says_plainly_what_did_not_reproduce(paper: Paper, pages: pathlib.Path) -> None:
    text = (pages / f"{paper.name}.html").read_text(encoding="utf-8")
    top = text[: text.index("How to read this")]
    results = {figure.name: made_up(figure) for figure in paper.figures[:-1]}
    counted = [case for case in headline.cases(paper, results) if case.figure.published and not case.taken]
    for verdict in VERDICTS:
        count = sum(case.judged.verdict == verdict for case in counted)
        assert re.search(rf"<b>{count}</b><span[^>]*>{verdict}<", top)
    failed = collections.Counter(case.claim.text for case in counted if case.judged.verdict == "contradicted")
    for case in counted:
        assert top.count(f"<li>{html.escape(case.claim.text)} <span") == failed[case.claim.text]


def test_pages_need_only_what_lies_beside_them(pages: pathlib.Path) -> None:
    for path in pages.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "http" not in text
        assert "prefers-color-scheme: dark" in text
        links = re.findall(r'(?:src|href)="([^"#]*)(?:#([^"]*))?"', text)
        assert links
        for name, anchor in links:
            beside = pages / name if name else path
            assert beside.exists(), name
            assert not anchor or f'id="{anchor}"' in beside.read_text(encoding="utf-8")
    assert {path.stem for path in pages.glob("*.html")} == {
        "index",
        "guo2010",
        "xu2015",
        "cao2016",
        "lee2017",
        "liu2019",
    }
    index = (pages / "index.html").read_text(encoding="utf-8")
    assert all(path.name in index for path in pages.glob("*.svg"))


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_a_page_says_whose_paper_it_is_and_leads_on(paper: Paper, pages: pathlib.Path) -> None:
    source, text = paper.source, (pages / f"{paper.name}.html").read_text(encoding="utf-8")
    assert f"<title>{paper.title}: {source.short}, in our simulator</title>" in text
    for word in (source.authors, source.title, source.journal, str(source.year)):
        assert html.escape(word, quote=False) in text
    assert html.escape(source.full, quote=False) in (pages / "index.html").read_text(encoding="utf-8")
    shown = paper.figures[:-1]
    for i, figure in enumerate(shown):
        section = text[text.index(f'<h2 id="{figure.anchor}">') :]
        back = section[: section.index("<figure>")]
        neighbours = [other.anchor for other in shown[max(i - 1, 0) : i + 2] if other is not figure]
        assert re.findall(r'href="#([^"]+)"', back) == ["top", *neighbours]


def test_on_narrow_screens_each_number_of_a_claim_says_what_it_is(pages: pathlib.Path) -> None:
    text = (pages / "xu2015.html").read_text(encoding="utf-8")
    assert "@media (max-width: 52rem)" in text
    rows = re.findall(
        r"<tr><td>.*?</tr>", "".join(re.findall(r'<table class="cards">.*?</table>', text, re.DOTALL)), re.DOTALL
    )
    assert rows
    for row in rows:
        labels = re.findall(r'data-label="([^"]+)"', row)
        assert labels == ["paper", "ours", "± 95 %", "points", "verdict", "limiting factor"]


def test_sources_are_cited_by_author_and_year() -> None:
    cited = ["Guo et al. (2010)", "Xu et al. (2015)", "Cao et al. (2016)", "Lee and Chung (2017)", "Liu et al. (2019)"]
    assert [paper.source.short for paper in PAPERS] == cited
    assert spec.Source("A. B. Lone", 2001, "Alone", "Somewhere").short == "Lone (2001)"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_the_documentation_shows_each_picture(paper: Paper, root: pathlib.Path) -> None:
    text = (root / f"docs/reproduction/{paper.name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {paper.title}: {paper.source.short}\n")
    for figure in paper.figures:
        section = "\n".join(tables.of_figure(paper, figure, "", [])[:4])
        assert section in text
        assert (root / f"docs/figures/{draw.name(paper, figure)}.svg").exists()
    assert text.count("<details markdown") == len(paper.figures)


def test_figures_of_all_runs_are_drawn_again_without_saying_how_many(tmp_path: pathlib.Path) -> None:
    paper, figure = one("xu2015", "12")
    text = page.report(paper, {"12": made_up(figure, runs=30)}, tmp_path, Manifest(30), PAPERS).read_text(
        encoding="utf-8"
    )
    assert "<pre>strandcast figures xu2015 --figure 12</pre>" in text


def test_quick_pages_say_so(tmp_path: pathlib.Path) -> None:
    paper, figure = one("xu2015", "12")
    path = page.report(
        paper, {figure.name: made_up(shown(figure, quick=True))}, tmp_path, Manifest(3, quick=True), PAPERS
    )
    text = path.read_text(encoding="utf-8")
    assert "QUICK" in text
    assert "run.time=" in text
    assert "--quick" in text
    assert "QUICK" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_findings_speak_of_figures_that_there_are() -> None:
    for paper in PAPERS:
        for finding in paper.findings:
            for name in finding.figures:
                one(paper.name, name)


def test_the_documentation_has_the_findings(root: pathlib.Path) -> None:
    for paper in PAPERS:
        assert tables.findings(paper) in (root / f"docs/reproduction/{paper.name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_the_documentation_counts_the_verdicts_of_its_tables(paper: Paper, root: pathlib.Path) -> None:
    text = (root / f"docs/reproduction/{paper.name}.md").read_text(encoding="utf-8")
    summary = (root / "docs/reproduction.md").read_text(encoding="utf-8")
    total = collections.Counter[str]()
    for figure in paper.figures:
        section = text.partition(f"## {heading(figure)}\n")[2].partition("\n## ")[0]
        rows = re.findall(
            rf"^\| (.*?) \|.* \| ({'|'.join(VERDICTS)})(?: \(level\))? \| [^|]+ \|$", section, re.MULTILINE
        )
        by_default = [
            said for claim, said in rows if not any(one.marked(claim) for one in itertools.chain(*paper.open))
        ]
        said = collections.Counter(by_default)
        row = f"| {tables.link(paper, figure)} | {figure.title} | "
        row += " | ".join(str(said[verdict] or "") for verdict in VERDICTS) + " |"
        assert (row in summary) == bool(figure.published and said)
        total += said if figure.published else collections.Counter()
    assert "| all | by default | " + " | ".join(str(total[verdict]) for verdict in VERDICTS) + " |" in summary


def test_each_committed_picture_says_what_it_is_made_of(root: pathlib.Path) -> None:
    folder = root / "docs/figures"
    pictures = {draw.name(paper, figure) for paper, figure in ALL}
    assert {path.stem for path in folder.glob("*.svg")} == pictures
    for name in (*pictures, *(paper.name for paper in PAPERS)):
        made = noted(folder, name)
        assert made is not None
        assert made.full


@pytest.mark.parametrize("linear", [None, 10.0])
def test_differences_of_all_sizes_can_be_told_apart(linear: float | None) -> None:
    _, figure = one("xu2015", "15")
    (stated,) = draw.stated(made_up(figure))
    axes = Picture().add_subplot()
    draw.draw_claims(axes, dataclasses.replace(figure, linear=linear), stated, {})
    axes.figure.canvas.draw()
    assert axes.get_xscale() == ("linear" if linear is None else "symlog")
    if linear is not None:
        texts = [label.get_text() for label in axes.get_xticklabels()]
        assert "0" in texts
        assert {"-10", "10"} & set(texts), "plain numbers"


def test_lines_are_drawn_in_the_schemes_looks() -> None:
    _, figure = one("xu2015", "5")
    picture = drawn("xu2015", "5")
    for scheme in figure.schemes:
        lines: list[Line2D] = [line for axes in picture.axes for line in axes.lines if line.get_label() == scheme]
        assert len(lines) == 4
        look = style.LOOKS[scheme]
        assert {(line.get_color(), line.get_marker()) for line in lines} == {(look.colour, look.marker)}
