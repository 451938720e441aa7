"""`strandcast figures`: its arguments, what it keeps, and what it says of mistakes."""

from __future__ import annotations

import errno
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pytest

from strandcast.command import lab
from strandcast.errors import ClusterError
from strandcast.figures import draw
from strandcast.figures.command import parse


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
        ("003", "there is no paper 003; there are 000, 001, 002 and all"),
        ("002 --figure 1", "--figure 1: paper 002 has 4; 5; 6; 7, 8, 9"),
        ("002 --runs 0", "0 is no whole number from 1 on"),
        ("002 --runs few", "few is no whole number"),
        ("002 --scheme x", "--scheme x: these figures have cmt, cmt-la"),
        ("002 --out /dev/null", "--out /dev/null: that is a file"),
        ("002 --results /dev/null", "--results /dev/null: that is a file"),
        ("002 --tables /nowhere", "--tables /nowhere: there is no such folder"),
        ("002 --quick --tables .", "they have all schemes and runs of full length"),
        ("002 --scheme cmt --tables .", "they have all schemes and runs of full length"),
        ("002 --quick --out docs/figures", "quick figures do not replace those of full runs"),
        ("", "required: PAPER"),
    ],
)
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], arguments: str, wrong: str) -> None:
    assert wrong in said(capsys, arguments, 2)


def test_a_figure_is_found_by_each_of_its_numbers() -> None:
    for number in ("7", "8", "9", "7, 8, 9"):
        ((_, figures),) = parse(["002", "--figure", number]).papers
        assert [figure.name for figure in figures] == ["7, 8, 9"]


def test_only_whole_figures_go_to_the_documentation(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "docs")
    assert parse(["all"]).out == root / "docs/figures"
    for less in ("--quick", "--runs 29", "--scheme cmt"):
        assert parse(["all", *less.split()]).out == root / "target/figures"
    assert parse(["all"]).store.folder == root / "target/figures-results"
    monkeypatch.chdir("/")
    assert parse(["all"]).out == pathlib.Path("figures")
    assert parse(["all", "--quick"]).out == pathlib.Path("target/figures")


def test_runs_are_thirty_or_quickly_five() -> None:
    assert (parse(["all"]).runs, parse(["all", "--quick"]).runs, parse(["all", "--quick", "--runs", "2"]).runs) == (
        30,
        5,
        2,
    )


def test_a_plan_tells_what_is_missing_and_runs_nothing(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    assert lab("figures", ["000", "--figure", "6", "--figure", "7", "--plan", "--results", str(results)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("000 Fig. 6: 64 cells, 1920 runs missing, about ")
    assert lines[1].startswith("000 Fig. 7: 64 cells, 0 runs missing"), "they are those of Fig. 6"
    assert not results.exists()


QUICK = ["002", "--figure", "6", "--scheme", "cmt", "--quick", "--runs", "1"]


def test_a_full_disk_is_one_line_and_runs_are_kept(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> list[pathlib.Path]:
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "figure.svg"))

    monkeypatch.setattr(draw, "figure", full)
    arguments = " ".join([*QUICK, "--jobs", "1", "--results", str(tmp_path / "results"), "--out", str(tmp_path)])
    assert "No space left on device" in said(capsys, arguments, 3)
    assert len(list((tmp_path / "results").rglob("*.parquet"))) == 2


def test_a_cluster_that_does_not_answer_is_one_line(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Nobody listens on the port of a discarded socket.
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    arguments = [*QUICK, "--results", str(tmp_path), "--cluster", f"tcp://127.0.0.1:{port}"]
    assert f"no Dask cluster at tcp://127.0.0.1:{port}" in said(capsys, " ".join(arguments), ClusterError.exit_code)


def start(folder: pathlib.Path) -> subprocess.Popen[str]:
    """The verb in a process of its own, with work for some seconds."""
    arguments = ["001", "--figure", "8", "--runs", "10", "--results", str(folder / "results"), "--out", str(folder)]
    return subprocess.Popen(
        [sys.executable, "-m", "strandcast", "figures", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A group of its own, as a terminal's Ctrl-C reaches the workers, too.
        start_new_session=True,
    )


def test_ctrl_c_keeps_what_is_done_and_it_goes_on(tmp_path: pathlib.Path) -> None:
    def kept() -> int:
        return len(list((tmp_path / "results").rglob("*.parquet")))

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
