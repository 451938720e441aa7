"""Papers' former numbers still work, with a warning; all of this goes with version 0.2."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

import strandcast as sc
from strandcast.command import lab


@pytest.mark.parametrize(("number", "key"), [("000", "xu2015"), ("001", "cao2016"), ("002", "liu2019")])
def test_a_number_stands_for_a_paper(
    number: str, key: str, capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    assert lab("figures", [number, "--draw-only", "--results", str(tmp_path), "--out", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert f"{key} Fig. " in told.out
    assert told.err == f"strandcast: {number} is called {key}; the number goes with version 0.2\n"


def test_a_papers_network_is_loaded_from_the_clone(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "docs")
    with pytest.warns(DeprecationWarning, match=r"use Scenario.load.*experiments/xu2015/fig4.toml"):
        network = sc.Scenario.example("000/fig4")
    assert network == sc.Scenario.load(root / "experiments/xu2015/fig4.toml")


def test_without_a_clone_it_says_where_the_network_is(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sc.ScenarioError, match=r"it is experiments/cao2016/fig5.toml of a clone of https://"):
        sc.Scenario.example("001/fig5")


NUMBERED = re.compile(
    r"\b[Pp]apers?[ _-]?00[0-4]\b|scenarios/00[0-4]\b|figures 00[0-4]\b|\b00[0-4]-fig-"
    r"|[\"`(]00[0-2](?:/|[\"`] )|\b00[0-2] (?:eq|Fig)"
)
KNOW = {
    "CHANGELOG.md",
    "crates/cli/src/args.rs",
    "crates/cli/src/loaded.rs",
    "docs/papers.md",
    "python/strandcast/experiments.py",
    "python/strandcast/scenario.py",
    "tests/python/test_figures_command.py",
    "tests/python/test_former_names.py",
}
"""Files that say what former numbers are called now."""


def test_nobody_else_calls_papers_by_numbers(root: pathlib.Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True)
    kinds = (".md", ".rs", ".py", ".toml", ".yml", ".cff", "Makefile")
    names = [
        name for name in listed.stdout.splitlines() if name.endswith(kinds) and not name.endswith("tests/it/golden.rs")
    ]
    found = {name for name in names if NUMBERED.search((root / name).read_text(encoding="utf-8"))}
    assert found <= KNOW
