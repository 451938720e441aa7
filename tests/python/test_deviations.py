"""Choices that papers leave open, one assumption at a time."""

from __future__ import annotations

import dataclasses
import io
import pathlib

import polars as pl
import pytest

import strandcast as sc
from strandcast import experiments
from strandcast.command import lab
from strandcast.figures import deviations, gains, spec
from strandcast.figures.claims import VERDICTS
from strandcast.figures.deviations import at, both, reduced
from strandcast.figures.results import cell, network
from strandcast.figures.spec import Deviation, Figure, Main, Measure, Paper, Point, Study
from strandcast.store import Store

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = experiments.papers(ROOT / "experiments")
STUDIES = [pytest.param(paper, study, id=paper.name) for paper in PAPERS if (study := paper.study) is not None]

HERE, THERE = Point("here", ('run.time="30 s"',)), Point("there", ('run.time="31 s"',))
FIGURE = Figure(
    "1",
    "a figure",
    "fig5.toml",
    ("one", "two"),
    (HERE, THERE),
    (Measure("throughput", "Mbit/s", spec.metric("flow", "data", "goodput_bps", scale=1e-6)),),
    claims=(
        spec.more("throughput", "one", "two", ["here", "there"]),
        spec.same("throughput", "two", "one", ["there"]),
    ),
)
LONGER = Deviation("a minute", "time (30 s)", at(("1",), 'run.time="60 s"'))
OTHER = Deviation("another", "scheme", specs={"two": "sctp,rto-min=300"})
STUDY = Study(
    (FIGURE,),
    (Main("one less two", "1", spec.by(1, "Mbit/s", "throughput", "one", "two", ["here"]), 1, "about 1"),),
    (LONGER, OTHER),
    runs=2,
    notes="Notes.",
)
PAPER = Paper(
    "nobody's",
    spec.Source("A. Nobody", 1999, "Nothing", "Nowhere"),
    {"one": "cmt", "two": "sctp"},
    (FIGURE,),
    ROOT / "experiments/cao2016",
    study=STUDY,
)


def test_a_reduced_figure_claims_what_is_left() -> None:
    less = reduced(FIGURE, ["here"])
    assert [point.name for point in less.points] == ["here"]
    (above,) = less.claims
    assert above.contrasts == FIGURE.claims[0].contrasts[:1]
    assert above.base is None
    (above, same) = reduced(FIGURE, ["there"]).claims
    assert above.contrasts == FIGURE.claims[0].contrasts[1:]
    assert same == FIGURE.claims[1]
    assert reduced(FIGURE, without=["two"]).claims == ()
    assert reduced(FIGURE, without=["two"]).schemes == ("one",)


def test_a_claim_keeps_the_base_of_what_is_left() -> None:
    figure = dataclasses.replace(FIGURE, claims=(spec.shift("throughput", "one", "two", ["here", "there"]),))
    (claim,) = reduced(figure, ["there"]).claims
    assert claim.base is not None
    assert [term.point for contrast in claim.base for term in contrast] == ["there"]


def changed(deviation: Deviation) -> Paper:
    return deviations.varied(PAPER, STUDY, deviation)


def test_a_deviation_is_set_behind_what_points_set() -> None:
    for point, mine in zip(FIGURE.points, changed(LONGER).figures[0].points, strict=True):
        assert mine.sets == (*point.sets, 'run.time="60 s"')
        assert cell(PAPER, FIGURE, mine, "one").scenario.resolved()["run"]["time"] == 60


def test_what_a_deviation_leaves_alone_is_run_once() -> None:
    default, other = (list(deviations.cells(deviations.varied(PAPER, STUDY, one))) for one in (None, OTHER))
    assert [a.key == b.key for a, b in zip(default, other, strict=True)] == [True, False, True, False]


def test_schemes_of_the_network_are_set_last() -> None:
    paper = dataclasses.replace(PAPER, sets={"one": ('run.time="20 s"',)})
    slower = Deviation("slower", "", schemes={"one": ('run.time="40 s"',)})
    one, two = (
        cell(mine, mine.figures[0], mine.figures[0].points[0], "one").scenario.resolved()["run"]["time"]
        for mine in (deviations.varied(paper, STUDY), deviations.varied(paper, STUDY, slower))
    )
    assert (one, two) == (20, 40)


def test_both_set_what_each_sets() -> None:
    sets = both(at(("1",), "a=1"), both(at(("2",), "b=2"), at(("1", "2"), "c=3")))
    assert tuple(sets(FIGURE, HERE)) == ("a=1", "c=3")


def save(store: Store, deviation: Deviation | None, rates: dict[str, float], study: Study = STUDY) -> None:
    """Keeps two runs of each cell of a deviation that gave these rates in Mbit/s."""
    paper = deviations.varied(PAPER, study, deviation)
    for point in paper.figures[0].points:
        for scheme, rate in rates.items():
            one = cell(paper, paper.figures[0], point, scheme)
            for seed in (1, 2):
                row = {"subject_kind": "flow", "subject": "data", "part": "", "metric": "goodput_bps"}
                frame = pl.DataFrame([{"seed": seed, **row, "value": (rate + 0.1 * seed) * 1e6}])
                buffer = io.BytesIO()
                frame.with_columns(pl.col("seed").cast(pl.UInt64)).write_parquet(buffer)
                store.save(one, seed, buffer.getvalue())


def test_the_table(tmp_path: pathlib.Path) -> None:
    store = Store(tmp_path)
    assert deviations.text(PAPER, store) == "", "nothing without runs as it is"
    save(store, None, {"one": 2.0, "two": 1.0})
    text = deviations.text(PAPER, store)
    assert text.startswith("2 runs of each cell; 2 claims of Figs 1. Notes.\n\n| assumption | is | ")
    assert deviations.text(PAPER, store, 1).startswith("1 run of each cell; ")
    assert deviations.text(PAPER, store, 3) == "", "more than there are"
    wordy = dataclasses.replace(PAPER, study=dataclasses.replace(STUDY, notes="`--many words` " * 30))
    paragraph, _, _ = deviations.text(wordy, store).partition("\n\n")
    assert 100 < max(map(len, paragraph.splitlines())) <= 120, "lines of a page's width"
    assert " ".join(paragraph.split()).endswith("`--many words` `--many words`")
    none = dict.fromkeys(VERDICTS, 0)

    def counted(**found: int) -> str:
        return " | ".join(str(count) for count in {**none, **found}.values())

    reproduced, rest = VERDICTS[0], VERDICTS[-1]
    assert f"| as it is |  | {counted(**{reproduced: 1, rest: 1})} |  |  |  | 1.0 ± 0.0 |" in text
    assert "Without runs: time (30 s): a minute; scheme: another." in text
    save(store, LONGER, {"one": 1.0, "two": 1.0})
    text = deviations.text(PAPER, store)
    row = next(line for line in text.splitlines() if line.startswith("| time (30 s) | a minute |"))
    assert row.endswith(" | Fig. 1: 1 | Fig. 1: 1 |  | 0.0 ± 0.0 |")
    assert "    - claim gained: Fig. 1, throughput: two ≈ one" in text
    assert "    - claim lost: Fig. 1, throughput: one > two" in text
    assert "Without runs: scheme: another." in text
    paper = next(line for line in text.splitlines() if "the paper" in line)
    assert paper.endswith("| about 1 |")


def test_a_row_has_what_there_is(tmp_path: pathlib.Path) -> None:
    store = Store(tmp_path)
    second = dataclasses.replace(FIGURE, name="2", points=(THERE,), claims=FIGURE.claims[1:])
    small, large = (f'flows.data.sctp.receive_buffer="{kib} KiB"' for kib in (32, 128))
    both_of = Deviation("32 KB", "buffer (64 KB)", at(("1", "2"), small))
    one_of = Deviation("128 KB", "buffer (64 KB)", at(("1",), large))
    study = dataclasses.replace(STUDY, figures=(FIGURE, second), deviations=(both_of, one_of))
    paper = dataclasses.replace(PAPER, study=study)
    save(store, None, {"one": 2.0, "two": 1.0})
    there = dataclasses.replace(STUDY, figures=(reduced(FIGURE, ["there"]),))
    save(store, both_of, {"one": 1.0, "two": 1.0}, there)
    text = deviations.text(paper, store)
    row = next(line for line in text.splitlines() if line.startswith("| buffer (64 KB) | 32 KB |"))
    empty = " | " * len(VERDICTS)
    assert row == f"| buffer (64 KB) | 32 KB{empty} | Fig. 2: 1 |  | Fig. 1 |  |"
    assert "Without runs: buffer (64 KB): 128 KB." in text, "figures without a change give it no row"


def test_tables_go_between_the_marks(tmp_path: pathlib.Path) -> None:
    page = tmp_path / deviations.PAGE
    assert deviations.write(tmp_path, {"nobody1999": "new\n"}, [PAPER]) == []
    page.write_text(
        "a\n<!-- measured: deviations nobody1999 -->\nold\n<!-- end -->\n"
        "<!-- measured: deviations other2000 -->\nkept\n<!-- end -->\n"
    )
    assert deviations.write(tmp_path, {"nobody1999": "new\n"}, []) == [page]
    assert page.read_text() == (
        "a\n<!-- measured: deviations nobody1999 -->\n\nnew\n\n<!-- end -->\n"
        "<!-- measured: deviations other2000 -->\nkept\n<!-- end -->\n"
    )


def test_what_one_assumption_gains_is_kept_with_the_paper(tmp_path: pathlib.Path) -> None:
    page, folder = tmp_path / deviations.PAGE, tmp_path / "nobody1999"
    folder.mkdir()
    together = Deviation("both", "both of these", several=True)
    study = dataclasses.replace(STUDY, deviations=(LONGER, OTHER, together))
    paper = dataclasses.replace(PAPER, folder=folder, study=study)
    lists = "".join(
        f"- {one.title}\n    - claim gained: Fig. 1, throughput: two ≈ one\n"
        "    - claim lost: Fig. 1, throughput: one > two\n"
        for one in study.deviations
    )
    page.write_text(f"<!-- measured: deviations nobody1999 -->\n{lists}<!-- end -->\n")
    assert gains.read(folder) == {}, "nothing without a file"
    assert deviations.write(tmp_path, {"nobody1999": ""}, [paper]) == [folder / gains.FILE], "the page's table"
    assert gains.read(folder) == {"Fig. 1, throughput: two ≈ one": (LONGER.title, OTHER.title)}
    assert deviations.write(tmp_path, {}, [paper]) == [], "nothing changed"
    kept = dataclasses.replace(paper, gains=gains.read(folder))
    assert kept.varied(FIGURE, FIGURE.claims[1]) == (LONGER.title, OTHER.title)
    assert kept.varied(FIGURE, FIGURE.claims[0]) == ()


def test_gains_are_those_of_the_page() -> None:
    found = deviations.on_page((ROOT / "docs" / deviations.PAGE).read_text(), PAPERS)
    for paper in PAPERS:
        assert paper.study is not None
        titles = {one.title for one in paper.study.deviations}
        claims: dict[str, tuple[str, ...]] = {}
        for title, its in found[paper.name].items():
            assert title in titles
            for claim in its:
                claims[claim] = (*claims.get(claim, ()), title)
        assert paper.gains == claims
        known = {gains.named(figure.name, claim.text) for figure in paper.figures for claim in figure.claims}
        assert claims.keys() <= known, "claims of the figures"


def test_each_paper_has_a_study_and_a_table() -> None:
    assert len(STUDIES) == len(PAPERS)
    page = (ROOT / "docs" / deviations.PAGE).read_text()
    for paper in PAPERS:
        assert page.count(f"### {paper.source.short}, varied\n\n<!-- measured: deviations {paper.name} -->") == 1


@pytest.mark.parametrize(("paper", "study"), STUDIES)
def test_a_study_has_all_published_figures_and_something_of_each(paper: Paper, study: Study) -> None:
    assert {figure.name for figure in study.figures} == {figure.name for figure in paper.figures if figure.published}
    for figure in study.figures:
        assert any(claim.kind != "shift" for claim in figure.claims), figure.name
    assert len({one.title for one in study.deviations}) == len(study.deviations)


@pytest.mark.parametrize("study", [one.values[1] for one in STUDIES], ids=[one.id for one in STUDIES])
def test_main_results_are_of_what_is_run(study: Study) -> None:
    for main in study.results:
        figure = next(figure for figure in study.figures if figure.name == main.figure)
        terms = {term for contrast in (*main.claim.contrasts, *(main.claim.base or ())) for term in contrast}
        for term in terms:
            assert term.scheme in figure.schemes_at(figure.point(term.point)), main.label
            assert term.measure in {measure.name for measure in figure.measures}


@pytest.mark.parametrize(("paper", "study"), STUDIES)
def test_each_deviation_changes_some_cell_and_can_be_run(paper: Paper, study: Study) -> None:
    default = {one.key for one in deviations.cells(deviations.varied(paper, study))}
    for deviation in study.deviations:
        keys = {one.key for one in deviations.cells(deviations.varied(paper, study, deviation))}
        assert keys - default, deviation.title


def test_links_that_lose_retransmit() -> None:
    paper = next(paper for paper in PAPERS if paper.name == "xu2015")
    assert paper.study is not None
    once = next(one for one in paper.study.deviations if one.name == "links retransmit once")
    varied = deviations.varied(paper, paper.study, once)
    for figure in varied.figures:
        for point in figure.points:
            links = network(paper.folder / figure.scenario).with_sets(point.sets).resolved()["links"]
            lossy = {name: link.get("arq") for name, link in links.items() if link.get("loss")}
            assert lossy
            assert set(map(str, lossy.values())) == {str({"retries": 1})}, (figure.name, point.name)


@pytest.mark.parametrize("less", ["--quick", "--figure 6", "--scheme cmt-cl"])
def test_deviations_are_of_whole_papers(less: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        lab("figures", ["xu2015", "--deviations", *less.split()])
    assert "--deviations: it has all published figures" in capsys.readouterr().err


def test_lost_retransmissions_are_all_that_is_noticed_otherwise() -> None:
    paper = next(paper for paper in PAPERS if paper.name == "xu2015")
    assert paper.study is not None
    (noticed,) = (one for one in paper.study.deviations if "lost retransmissions" in one.about)
    figure = next(figure for figure in paper.study.figures if figure.name == "5")
    (setting,) = noticed.sets(figure, figure.points[0])
    key, _, words = setting.partition("=")
    flow = sc.Scenario.load(paper.folder / figure.scenario).resolved()["flows"]["video"]
    ours = flow["sctp"]["scheme_defaults"].split(",")
    assert key == "flows.video.sctp.scheme_defaults"
    assert sorted([*words.strip('"').split(","), "rtx-again=off"]) == sorted(ours), "all else as the profile"


@pytest.mark.thorough
def test_runs_of_deviations_may_be_more(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ["--results", str(tmp_path), "--deviations", "--plan"]
    for count in (5, 30):
        assert lab("figures", ["liu2019", *store, *(["--runs", str(count)] if count > 5 else [])]) == 0
        assert f"liu2019, as it is, Fig. 4: 2 cells, {2 * count} runs missing" in capsys.readouterr().out


def test_a_plan_counts_each_cell_once(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab("figures", ["liu2019", "--deviations", "--runs", "1", "--plan", "--results", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("liu2019, as it is, Fig. 4: 2 cells, 2 runs missing, about ")
    assert lines[1].startswith("liu2019, as it is, Fig. 5: 2 cells, 0 runs missing, about 0 CPU s"), "those of Fig. 4"
    assert lines[-1].startswith("all: about ")
    assert not list(tmp_path.rglob("*.parquet"))
