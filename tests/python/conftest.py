"""Fixtures that the tests of the Python package share."""

from __future__ import annotations

import pathlib
from collections.abc import Generator

import pytest

import strandcast as sc
from strandcast import command

ROOT = pathlib.Path(__file__).resolve().parents[2]

TWO_PATHS = """
title = "Two paths"
run = { time = "5 s", runs = 2 }
nodes = { a = {}, b = {} }
[links.up]
from = "a"
to = "b"
rate = "4 Mbit/s"
delay = "15 ms"
loss.uniform.rate = "1 %"
[links.down]
from = "a"
to = "b"
rate = "2 Mbit/s"
delay = { uniform = ["20 ms", "40 ms"], every = "1 s" }
[flows.bulk]
from = "a"
to = "b"
compare = true
app = { kind = "bulk" }
paths = { up = { via = ["up"] }, down = { via = ["down"] } }
"""


class AbsentError(Exception):
    """A program that the rest of a test needs and this machine lacks."""


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Ends a test at a program that this machine lacks: what needs it is not tested here."""
    try:
        return (yield)
    except AbsentError as absent:
        # In the output of a whole run as well.
        shown = pyfuncitem.config.pluginmanager.get_plugin("terminalreporter")
        assert shown is not None
        shown.write_line(f"{pyfuncitem.name} ends early: no {absent} on this machine")
        return True


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The repository."""
    return ROOT


@pytest.fixture
def two_paths() -> sc.Scenario:
    """A bulk transfer of five seconds over two lossy links, twice: some hundredths of a second to run."""
    return sc.Scenario.parse(TWO_PATHS)


class Plot:
    """`strandcast plot`, in a folder."""

    def __init__(self, folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str | pathlib.Path) -> int:
        try:
            code = command.lab("plot", list(map(str, arguments)))
        except SystemExit as stop:
            code = int(stop.code or 0)
        self.out, self.err = self._capsys.readouterr()
        return code


@pytest.fixture
def plot(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Plot:
    monkeypatch.chdir(tmp_path)
    return Plot(tmp_path, capsys)
