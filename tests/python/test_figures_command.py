"""`strandcast figures`: its arguments, what it keeps, and what it says of mistakes."""

from __future__ import annotations

import dataclasses
import errno
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

import strandcast as sc
from strandcast import experiments
from strandcast.command import lab
from strandcast.errors import ClusterError
from strandcast.figures import draw
from strandcast.figures.command import Selection, parse
from strandcast.figures.manifest import Origin, noted
from strandcast.figures.results import cell
from strandcast.figures.spec import Paper
from strandcast.store import Store, pack
from strandcast.version import COMMIT


def said(capsys: pytest.CaptureFixture[str], arguments: str, code: int) -> str:
    """The one line that the verb ends with, with this exit code."""
    try:
        ended: object = lab("figures", arguments.split())
    except SystemExit as exited:
        ended = exited.code
    lines = capsys.readouterr().err.strip().splitlines()
    assert ended == code, lines
    assert len(lines) == 1, lines
    assert lines[0].startswith("strandcast: ")
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ("guo2011", "there is no paper guo2011; choose from guo2010, xu2015, cao2016, lee2017, liu2019 and all"),
        ("liu2019 --figure 1", "--figure 1: paper liu2019 has 4; 5; 6; 7, 8, 9"),
        ("liu2019 --runs 0", "0 is not a whole number from 1 on"),
        ("liu2019 --runs few", "few is not a whole number"),
        ("liu2019 --scheme x", "--scheme x: these figures have cmt, cmt-la"),
        ("liu2019 --out /dev/null", "--out /dev/null: that is a file"),
        ("liu2019 --results /dev/null", "--results /dev/null: that is a file"),
        ("liu2019 --tables /nowhere", "--tables /nowhere: there is no such folder"),
        ("liu2019 --quick --tables .", "they have all schemes, and at least 30 runs of full length"),
        ("liu2019 --scheme cmt --tables .", "they have all schemes, and at least 30 runs of full length"),
        ("liu2019 --runs 29 --tables .", "they have all schemes, and at least 30 runs of full length"),
        ("liu2019 --quick --out docs/figures", "quick figures do not replace those of full runs"),
        ("liu2019 --runs 29 --out docs/figures", "29 runs do not replace those of full runs"),
        ("liu2019 --scheme cmt --out docs/figures", "figures of some schemes do not replace those of full runs"),
        ("liu2019 --plan --draw-only", "not allowed with argument --plan"),
        ("", "required: PAPER"),
    ],
)
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], arguments: str, wrong: str) -> None:
    assert wrong in said(capsys, arguments, 2)


def test_a_figure_is_found_by_each_of_its_numbers() -> None:
    for number in ("7", "8", "9", "7, 8, 9"):
        ((_, figures),) = parse(["liu2019", "--figure", number]).papers
        assert [figure.name for figure in figures] == ["7, 8, 9"]


def test_only_whole_figures_go_to_the_documentation(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "docs")
    assert parse(["all"]).out == root / "docs/figures"
    for less in ("--quick", "--runs 29", "--scheme cmt"):
        assert parse(["all", *less.split()]).out == root / "target/figures"
    assert parse(["all"]).store.folder == root / "target/figures-results"
    monkeypatch.chdir("/")
    monkeypatch.setenv(experiments.VARIABLE, str(root / "experiments"))
    assert parse(["all"]).out == pathlib.Path("figures")
    assert parse(["all", "--quick"]).out == pathlib.Path("target/figures")


def test_runs_are_the_papers_or_those_said_or_quickly_five(tmp_path: pathlib.Path) -> None:
    def runs(*arguments: str) -> list[int]:
        wanted = parse(["all", "--results", str(tmp_path), *arguments])
        cells = [(paper, wanted.cells(paper, figures[0])) for paper, figures in wanted.papers]
        return [len(seeds) for paper, some in cells for _, seeds in wanted.missing(paper, some[:1])]

    assert runs() == [30] * 5
    assert runs("--runs", "40") == [40] * 5
    assert runs("--quick") == [5] * 5
    assert runs("--quick", "--runs", "2") == [2] * 5


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """30 runs of what Figs 4, 5 and 6 of liu2019 need, cut to 2 s."""
    wanted = parse(["liu2019", "--figure", "6", "--results", str(tmp_path_factory.mktemp("kept"))])
    ((paper, (figure,)),) = wanted.papers
    for one in wanted.cells(paper, figure):
        short = one.scenario.with_sets(['run.warmup="0 s"', 'run.time="2 s"'])
        for seed in range(1, 31):
            result = sc.run(short, one.scheme, runs=1, seed=seed, jobs=1, progress=False)
            wanted.store.save(one, seed, pack(result, one.key.spec, one.scenario.settings))
    return wanted.store


def draw_only(kept: Store, out: pathlib.Path, arguments: str = "") -> list[str]:
    """Draws what is kept of liu2019; gives the figures that its page shows, which are those that the index shows."""
    folders = ["--results", str(kept.folder), "--out", str(out)]
    assert lab("figures", ["liu2019", "--draw-only", *folders, *arguments.split()]) == 0
    if not out.exists():
        return []
    on_page, on_index = (
        re.findall(r'<img src="liu2019-fig-(.*?)\.svg"', (out / name).read_text())
        for name in ("liu2019.html", "index.html")
    )
    assert on_page == on_index
    return on_page


def test_what_is_kept_is_drawn_and_nothing_run(
    kept: Store, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(kept.folder.rglob("*.parquet"))
    assert draw_only(kept, tmp_path / "out") == ["4", "5", "6"]
    lines = capsys.readouterr().out.splitlines()
    assert "liu2019 Fig. 7, 8, 9: not drawn, 12 cells lack runs" in lines
    assert sorted(kept.folder.rglob("*.parquet")) == before
    assert draw_only(kept, tmp_path / "none", "--runs 31") == []


def test_a_page_has_only_figures_of_its_kind(kept: Store, tmp_path: pathlib.Path) -> None:
    def text() -> str:
        return (tmp_path / "liu2019.html").read_text()

    known = "64 KB have room for 45 chunks"
    assert draw_only(kept, tmp_path, "--runs 2 --figure 6") == ["6"]
    assert draw_only(kept, tmp_path, "--runs 3 --figure 4") == ["4"]
    assert draw_only(kept, tmp_path, "--runs 2 --figure 5") == ["5", "6"]
    assert "IN PART: 2 runs of each scheme" in text()
    assert "--figure 6 --runs 2" in text()
    assert known not in text(), "results of full runs are not shown for others"
    assert draw_only(kept, tmp_path, "--figure 4") == ["4"]
    assert draw_only(kept, tmp_path) == ["4", "5", "6"]
    assert known in text()
    assert "IN PART" not in text()


def test_a_picture_and_its_page_name_commit_and_scenarios(kept: Store, tmp_path: pathlib.Path) -> None:
    ((paper, (figure,)),) = parse(["liu2019", "--figure", "6"]).papers
    draw_only(kept, tmp_path, "--figure 6")
    made, of_page = noted(tmp_path, "liu2019-fig-6"), noted(tmp_path, "liu2019")
    assert made is not None
    assert of_page is not None
    hashes = {cell(paper, figure, point, "cmt").scenario.hash for point in figure.points}
    assert made.origin == Origin((COMMIT,) if COMMIT else (), tuple(sorted(hashes)))
    for name in ("liu2019-fig-6.svg", "liu2019.html"):
        assert made.origin.said() in (tmp_path / name).read_text()
    assert of_page.origin == made.origin


def test_a_page_of_full_runs_stays(kept: Store, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw_only(kept, tmp_path, "--figure 6")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for less in ("--runs 2", "--quick", "--scheme cmt"):
        wrong = said(capsys, f"liu2019 --figure 6 {less} --out {tmp_path}", 2)
        assert "do not replace those of full runs" in wrong
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_figure_has_as_many_runs_as_all_its_cells_have(tmp_path: pathlib.Path) -> None:
    wanted = parse(["liu2019", "--figure", "6", "--results", str(tmp_path)])
    ((paper, (figure,)),) = wanted.papers
    hundred = dataclasses.replace(paper, runs=100)

    def runs(wanted: Selection = wanted, paper: Paper = hundred) -> int | None:
        made = wanted.made(paper, figure)
        return made.runs if made else None

    first, *others = wanted.cells(paper, figure)
    for seed in range(1, 34):
        for one in others:
            wanted.store.save(one, seed, b"")
    assert runs() is None
    for seed, expected in ((29, None), (30, 30), (31, 31), (34, 33)):
        while len(wanted.store.seeds(first)) < seed:
            wanted.store.save(first, len(wanted.store.seeds(first)) + 1, b"")
        assert runs() == expected
    assert runs(paper=paper) == 30, "no more than the paper's"
    assert runs(dataclasses.replace(wanted, runs=7)) == 7
    assert runs(dataclasses.replace(wanted, runs=34)) is None, "exactly so many"


def test_tables_are_of_the_runs_that_there_are(
    root: pathlib.Path,
    kept: Store,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = tmp_path / "reproduction.md"
    page.write_text("<!-- measured: liu2019 -->\n<!-- end -->\n")
    draw_only(kept, tmp_path / "out", f"--figure 6 --tables {tmp_path}")
    assert page.read_text().count("`experiments/liu2019/fig3.toml`, 30 runs.") == 3, "figures that have all runs"
    assert "liu2019: these numbers stay, runs are missing of Fig. 7, 8, 9; 7 by" in capsys.readouterr().out
    (*_, paper) = experiments.papers(root / "experiments")
    some = dataclasses.replace(paper, figures=paper.figures[:3], runs=100)
    monkeypatch.setattr(experiments, "papers", lambda _: (some,))
    draw_only(kept, tmp_path / "out", f"--figure 6 --tables {tmp_path}")
    assert page.read_text().count("`experiments/liu2019/fig3.toml`, 30 runs.") == 3


def test_making_figures_of_fewer_runs_fills_no_tables(root: pathlib.Path) -> None:
    def recipe(arguments: str) -> str:
        words = ["make", "--dry-run", "figures", f"ARGS={arguments}"]
        return subprocess.run(words, cwd=root, capture_output=True, text=True, check=True).stdout

    assert "--tables docs" in recipe("")
    assert "--tables docs" in recipe("--draw-only")
    for less in ("--runs 2", "--runs=2", "--quick", "--scheme cmt"):
        assert "--tables" not in recipe(less)


def test_a_plan_tells_what_is_missing_and_runs_nothing(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    assert lab("figures", ["xu2015", "--figure", "6", "--figure", "7", "--plan", "--results", str(results)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("xu2015 Fig. 6: 96 cells, 2880 runs missing, about ")
    assert lines[1].startswith("xu2015 Fig. 7: 96 cells, 0 runs missing"), "they are those of Fig. 6"
    assert not results.exists()


QUICK = ["liu2019", "--figure", "6", "--scheme", "cmt", "--quick", "--runs", "1"]


def test_a_full_disk_is_one_line_and_runs_are_kept(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> pathlib.Path:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "figure.svg"))

    monkeypatch.setattr(draw, "figure", full)
    arguments = " ".join([*QUICK, "--jobs", "1", "--results", str(tmp_path / "results"), "--out", str(tmp_path)])
    assert "No space left on device" in said(capsys, arguments, 3)
    assert len(list((tmp_path / "results").glob("epoch=*/**/*.parquet"))) == 2


@pytest.mark.thorough
def test_a_cluster_that_does_not_answer_is_one_line(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Nobody listens on the port of a discarded socket.
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    arguments = [*QUICK, "--results", str(tmp_path), "--cluster", f"tcp://127.0.0.1:{port}"]
    assert f"no Dask cluster at tcp://127.0.0.1:{port}" in said(capsys, " ".join(arguments), ClusterError.exit_code)


def start(folder: pathlib.Path) -> subprocess.Popen[str]:
    """The verb in a process of its own, with work for some seconds."""
    arguments = ["cao2016", "--figure", "8", "--runs", "10", "--results", str(folder / "results"), "--out", str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "strandcast", "figures", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A separate group, because a terminal's Ctrl-C also reaches the workers.
        start_new_session=True,
    )


@pytest.mark.thorough
def test_ctrl_c_keeps_what_is_done_and_it_goes_on(tmp_path: pathlib.Path) -> None:
    def kept() -> int:
        return len(list((tmp_path / "results").glob("epoch=*/**/*.parquet")))

    first = start(tmp_path)
    while kept() < 3 and first.poll() is None:
        time.sleep(0.05)
    os.killpg(first.pid, signal.SIGINT)
    _, errors = first.communicate(timeout=120)
    assert first.returncode == 130, errors
    assert errors.strip().splitlines()[-1] == "strandcast: interrupted", errors
    before = kept()
    assert 3 <= before < 60
    out, errors = start(tmp_path).communicate(timeout=120)
    assert f"6 cells, {60 - before} runs made" in out, errors
    assert kept() == 60
