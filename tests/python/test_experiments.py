"""Search for the papers' experiments."""

from __future__ import annotations

import pathlib

import pytest

from strandcast import experiments
from strandcast.command import lab


def test_they_are_in_the_clone_around_the_working_directory(
    root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(experiments.VARIABLE, raising=False)
    monkeypatch.chdir(root / "docs/adr")
    assert experiments.folder() == root / "experiments"
    papers = experiments.papers(root / "experiments")
    assert [paper.name for paper in papers] == ["guo2010", "xu2015", "cao2016", "lee2017", "liu2019"]


def test_each_folder_is_called_by_its_papers_key(root: pathlib.Path) -> None:
    for paper in experiments.papers(root / "experiments"):
        assert paper.folder == root / "experiments" / paper.name
        assert {figure.scenario for figure in paper.figures} <= {path.name for path in paper.folder.glob("*.toml")}


def test_a_folder_is_named_by_an_option_or_the_environment(
    root: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = ["liu2019", "--figure", "5", "--draw-only", "--results", "results", "--out", "out"]
    assert lab("figures", [*plan, "--experiments", str(root / "experiments")]) == 0
    monkeypatch.setenv(experiments.VARIABLE, str(root / "experiments"))
    assert lab("figures", plan) == 0
    assert capsys.readouterr().out.count("liu2019 Fig. 5: not drawn, ") == 2


def test_an_experiment_of_ones_own(tmp_path: pathlib.Path) -> None:
    mine = tmp_path / "experiments/me2030"
    mine.mkdir(parents=True)
    (mine / "points.py").write_text("SPECS = {'cmt': 'cmt'}\n")
    (mine / "__init__.py").write_text(
        "import pathlib\n"
        "from strandcast.figures.spec import Paper, Source\n"
        "from .points import SPECS\n"
        "PAPER = Paper('mine', Source('I. Me', 2030, 'Mine', 'Here'), SPECS, (), pathlib.Path(__file__).parent)\n"
    )
    (paper,) = experiments.papers(mine.parent)
    assert (paper.name, paper.specs) == ("me2030", {"cmt": "cmt"})


@pytest.mark.parametrize("arguments", [["xu2015"], ["all", "--plan"]])
def test_without_them_one_line_says_which_clone_has_them(
    arguments: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(experiments.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        lab("figures", arguments)
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "strandcast: the papers' experiments are not in the package: run this in a clone of Strandcast"
    )
    with pytest.raises(SystemExit):
        lab("figures", [*arguments, "--experiments", str(tmp_path)])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"strandcast: {tmp_path}: no experiments are there")


def test_help_needs_none(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        lab("figures", ["--help"])
    assert ended.value.code == 0
    assert "--experiments DIR" in capsys.readouterr().out
