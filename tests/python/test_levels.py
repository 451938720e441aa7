"""Levels that papers print, and results read back from the documentation's pages."""

from __future__ import annotations

import dataclasses
import pathlib

import polars as pl
import pytest

from strandcast import experiments, stats
from strandcast.figures import claims, headline, pages, spec, tables
from strandcast.figures.claims import judge
from strandcast.figures.results import Found, added
from strandcast.figures.spec import Abstract, Figure, Judgement, Measure, Paper, Point, Printed

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = experiments.papers(ROOT / "experiments")


@pytest.mark.parametrize(
    ("printed", "ours", "base", "near"),
    [
        (Printed(30), 90, 0, True),
        (Printed(30), 91, 0, False),
        (Printed(30), 10, 0, True),
        (Printed(30), 9.9, 0, False),
        (Printed(30), -30, 0, False),
        (Printed(0.33, share=True), 0.48, 0, True),
        (Printed(0.33, share=True), 0.49, 0, False),
        (Printed(0.33, share=True), 0.17, 0, False),
        (Printed(0), 1, 100, True),
        (Printed(0), 1.1, 100, False),
        (Printed(0), 1, 0, False),
    ],
)
def test_a_level_is_near_the_papers(printed: Printed, ours: float, base: float, near: bool) -> None:
    assert printed.near(ours, base) == near


def test_a_psnr_is_near_within_nine_and_a_half_decibels() -> None:
    at_30 = Printed(spec.missing(30, 1000))
    assert at_30.near(spec.missing(20.5, 1000), 0)
    assert at_30.near(spec.missing(39.5, 1000), 0)
    assert not at_30.near(spec.missing(20.4, 1000), 0)
    assert not at_30.near(spec.missing(39.6, 1000), 0)


def judged(claim: spec.Claim, a: list[float], b: list[float], /, **paper: float) -> claims.Judged:
    """The result of a claim about a and b, of which the paper prints these levels."""
    runs = {"a": dict(enumerate(a)), "b": dict(enumerate(b))}
    found = judge(
        claim,
        lambda term: runs[term.scheme],
        lambda term: Printed(paper[term.scheme]) if term.scheme in paper else None,
    )
    assert found is not None
    return found


def test_an_order_counts_only_at_the_papers_levels() -> None:
    above = spec.more("m", "a", "b", ["p"])
    assert judged(above, [20, 21], [10, 11], a=30, b=8).verdict == "reproduced"
    far = judged(above, [20, 21], [10, 11], a=70, b=8)
    assert (far.verdict, far.without_levels) == ("partly", "reproduced")
    assert [(one.term.scheme, one.ours, one.paper) for one in far.far] == [("a", 20.5, 70)]
    assert judged(above, [20, 21], [10, 11], b=1).verdict == "partly", "either side"
    assert judged(above, [20, 21], [10, 11]).verdict == "reproduced", "the paper prints none"


def test_what_is_nearly_the_same_counts_only_at_the_papers_levels() -> None:
    same = spec.same("m", "a", "b", ["p"])
    assert judged(same, [990, 990], [985, 985], a=73, b=73).verdict == "partly"
    assert judged(same, [70, 70], [71, 71], a=73, b=73).verdict == "reproduced"


def test_levels_change_no_other_verdict() -> None:
    above = spec.more("m", "a", "b", ["p"])
    for a, verdict in (([0.0, 0.0], "contradicted"), ([0.0, 3.0], "undecided")):
        assert judged(above, a, [1, 1], a=100, b=100).verdict == verdict
    effect = spec.by(10, "%", "m", "a", "b", ["p"])
    assert judged(effect, [110, 110], [100, 100], a=1, b=1).verdict == "reproduced", "the paper gives its size"


RUNS = {
    ("p", "one", "share of it"): {1: 0.4, 2: 0.42},
    ("p", "two", "share of it"): {1: 0.2, 2: 0.21},
    ("p", "one", "deficit"): {1: 900.0, 2: 910.0},
    ("p", "two", "deficit"): {1: 950.0, 2: 980.0},
    ("p", "one", "PSNR"): {1: 0.9, 2: 0.8},
    ("p", "two", "PSNR"): {1: 0.4, 2: 0.2},
}
PSNR = spec.metric("flow", "data", "psnr_eq17_db")
FIGURE = Figure(
    "3",
    "shares and video",
    "fig5.toml",
    ("one", "two"),
    (Point("p"),),
    (
        Measure("share of it", "", spec.metric("share", "x", "served_share", "a"), 3, share=True),
        Measure("PSNR", "dB", PSNR),
        Measure("deficit", "kbit/s", PSNR, 1, missing_of=1000),
    ),
    claims=(
        spec.more("share of it", "one", "two", ["p"]),
        spec.more("deficit", "two", "one", ["p"]),
        spec.level(0.4, "share of it", "one", ["p"]),
    ),
    paper={("p", "one", "PSNR"): 20.0, ("p", "two", "share of it"): 0.3},
)
SOURCE = spec.Source("A. Nobody, B. Else", 1999, "Nothing", "Nowhere")
PAPER = Paper(
    "nobody's",
    SOURCE,
    {"one": "cmt", "two": "sctp"},
    (FIGURE,),
    ROOT / "experiments/cao2016",
    abstract=(
        Abstract(
            "one has more",
            ".4",
            Judgement("3", FIGURE.claims[0].text),
            (Judgement("3", FIGURE.claims[1].text, "its video"),),
        ),
    ),
)
FOUND = Found(FIGURE, RUNS, {})


def test_levels_are_those_that_a_paper_prints() -> None:
    assert FIGURE.levels == {
        ("p", "one", "share of it"): Printed(0.4, share=True),
        ("p", "two", "share of it"): Printed(0.3, share=True),
        ("p", "one", "PSNR"): Printed(20.0),
        ("p", "one", "deficit"): Printed(spec.missing(20, 1000)),
    }


@pytest.fixture
def docs(tmp_path: pathlib.Path) -> pathlib.Path:
    """Documentation with the figure, made of runs."""
    for folder in ("reproduction", "schemes", "figures"):
        (tmp_path / folder).mkdir()
    fills = {
        "reproduction/nobody1999.md": "nobody1999",
        "reproduction/verdicts.md": "claims nobody1999",
        "schemes/one.md": "one",
    }
    for page, names in fills.items():
        (tmp_path / page).write_text(f"<!-- measured: {names} -->\n<!-- end -->\n")
    marks = ("verdicts nobody1999", "rules", "abstracts")
    (tmp_path / "reproduction.md").write_text("".join(f"<!-- measured: {one} -->\n<!-- end -->\n" for one in marks))
    (tmp_path / "figures/manifest.json").write_text(
        '{"nobody1999-fig-3": {"runs": 30, "quick": false, "schemes": [], "epoch": 7}}'
    )
    tables.write(tmp_path, [PAPER], {"nobody1999": {"3": FOUND}})
    return tmp_path


def texts(docs: pathlib.Path) -> dict[str, str]:
    """The text of each page."""
    return {str(page.relative_to(docs)): page.read_text() for page in docs.rglob("*.md")}


def test_a_page_says_what_it_was_made_of(docs: pathlib.Path) -> None:
    assert "`experiments/nobody1999/fig5.toml`, 2 runs of epoch 7.\n" in texts(docs)["reproduction/nobody1999.md"]


def test_a_level_that_is_far_is_on_the_page(docs: pathlib.Path) -> None:
    found = texts(docs)
    assert "| deficit: two > one | 60.0 ± 127.1 kbit/s | > 0 |  | undecided |" in found["reproduction/nobody1999.md"]
    runs = {key: {1: values[1], 2: values[1]} for key, values in RUNS.items()}
    tables.write(docs, [PAPER], {"nobody1999": {"3": dataclasses.replace(FOUND, seeds=runs)}})
    found = texts(docs)
    assert "| deficit: two > one | 50.0 ± 0.0 kbit/s | > 0 |  | partly (level) |" in found["reproduction/nobody1999.md"]
    assert "| partly (level) |" in found["schemes/one.md"]
    row = "| partly (level) | one at p: 900.0 kbit/s, paper 100.0; no cause found |"
    assert row in found["reproduction/verdicts.md"]
    assert "\nWith a cause: 0 of 1 claims that are reproduced in part.\n" in found["reproduction/verdicts.md"]
    both = [line for line in found["reproduction.md"].splitlines() if "| default |" in line]
    assert both == [
        "| Nobody and Else (1999) | default | levels count | 2 | 1 | 0 | 0 |",
        "| Nobody and Else (1999) | default | orders alone | 3 | 0 | 0 | 0 |",
    ]


def test_a_page_says_which_changes_it_was_made_before(docs: pathlib.Path) -> None:
    before = texts(docs)
    changes = (spec.Change(8, "`one` is as it was", ("one",)), spec.Change(7, "it has this", ("one",)))
    elsewhere = spec.Change(9, "it is about others", ("three",))
    tables.write(docs, [dataclasses.replace(PAPER, changes=(*changes, elsewhere))], {})
    found = texts(docs)
    page = found["reproduction/nobody1999.md"]
    said = "These runs were made before epoch 8: `one` is as it was."
    assert f"2 runs of epoch 7.\n\n{said}\n\n`strandcast figures" in page
    assert page.count("were made before") == 1
    (row,) = (line for line in found["reproduction.md"].splitlines() if "| one has more |" in line)
    assert row.count(", before epoch 8") == 2
    tables.write(docs, [dataclasses.replace(PAPER, changes=changes[1:])], {})
    assert texts(docs) == before


def test_a_grade_counts_the_bounds_that_a_number_reaches() -> None:
    measure = Measure("MOS", "", PSNR, grades=(20.0, 25.0, 31.0, 37.0))
    psnrs = {1: 19.9, 2: 20.0, 3: 30.0, 4: 36.0, 5: 60.0}
    assert added(measure, psnrs, pl.DataFrame()) == {1: 1.0, 2: 2.0, 3: 3.0, 4: 4.0, 5: 5.0}


def test_pages_are_made_again_without_runs(docs: pathlib.Path) -> None:
    before = texts(docs)
    assert tables.write(docs, [PAPER], {}) == []
    assert texts(docs) == before


def test_verdicts_are_made_again_without_runs_if_the_paper_prints_more(docs: pathlib.Path) -> None:
    more = {**FIGURE.paper, ("p", "two", "share of it"): 0.9}
    paper = dataclasses.replace(PAPER, figures=(dataclasses.replace(FIGURE, paper=more),))
    tables.write(docs, [paper], {})
    found = texts(docs)
    page = found["reproduction/nobody1999.md"]
    assert "| share of it: one > two | 0.205 ± 0.064 | > 0 |  | partly (level) |" in page
    assert "two at p: 0.205, paper 0.900" in found["reproduction/verdicts.md"]
    tables.write(docs, [PAPER], {})
    assert texts(docs)["reproduction/nobody1999.md"] == page.replace("partly (level)", "reproduced", 1)


def test_the_claims_of_an_abstract(docs: pathlib.Path) -> None:
    (row,) = (line for line in texts(docs)["reproduction.md"].splitlines() if "| one has more |" in line)
    place = "reproduction/nobody1999.md#fig-3-shares-and-video"
    ours = f"0.205 ± 0.064, [reproduced]({place})"
    named = f"its video: 60.0 ± 127.1 kbit/s, [undecided]({place})"
    assert row.endswith(f"| one has more | .4 | {ours} | {named} |  |")


def test_a_failure_without_a_cause_has_what_was_tried(docs: pathlib.Path) -> None:
    (one,) = PAPER.abstract

    def cause(share: float, tried: str) -> str:
        runs = {**RUNS, ("p", "one", "share of it"): {1: share, 2: share}}
        found = {"nobody1999": {"3": dataclasses.replace(FOUND, seeds=runs)}}
        abstract = (dataclasses.replace(one, tried=tried),)
        tables.write(docs, [dataclasses.replace(PAPER, abstract=abstract)], found)
        (row,) = (line for line in texts(docs)["reproduction.md"].splitlines() if "| one has more |" in line)
        return row.split("|")[-2].strip()

    assert cause(0.1, "another queue") == "no cause found; tried: another queue"
    assert cause(0.1, "") == "no cause found"
    assert cause(0.4, "another queue") == "", "it is reproduced"


@pytest.mark.parametrize("paper", PAPERS, ids=[paper.name for paper in PAPERS])
def test_claims_of_abstracts_are_claims_of_figures(paper: Paper) -> None:
    for one in paper.abstract:
        for its in (one.default, *one.readings):
            tables.found_claim(paper, its)
        assert not one.cause or one.cause in {finding.title for finding in paper.findings}


def test_there_are_few_claims_of_abstracts() -> None:
    assert 0 < sum(len(paper.abstract) for paper in PAPERS) <= 15
    assert all(paper.abstract for paper in PAPERS)


@pytest.mark.parametrize("paper", PAPERS, ids=[paper.name for paper in PAPERS])
def test_all_figures_are_read_back(paper: Paper) -> None:
    kept = pages.read_page(paper, ROOT / "docs")
    assert set(kept) == {figure.name for figure in paper.figures}
    for figure in paper.figures:
        assert set(figure.paper) <= set(kept[figure.name].means)
    texts = {(figure.name, claim.text) for figure in paper.figures for claim in figure.claims}
    known = {(name, text) for name, one in kept.items() for text in one.rows}
    assert len(texts & known) > len(texts) / 2
    assert headline.cases(paper, kept)


def test_a_summary_is_read_back() -> None:
    kept = pages.Kept(FIGURE, {FIGURE.claims[0].text: ["", "-0.205 ± 0.064", "> 0", "14 of 24", "partly"]}, {}, "")
    found = kept.judge(FIGURE.claims[0])
    assert found is not None
    assert found == claims.Judged(stats.Summary(-0.205, 0.064, 30), 14, "partly")
    assert kept.judge(FIGURE.claims[1]) is None
