"""What the tests of the Python package share."""

from __future__ import annotations

import pathlib

import pytest

import strandcast as sc

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


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The repository."""
    return ROOT


@pytest.fixture
def two_paths() -> sc.Scenario:
    """A bulk transfer of five seconds over two lossy links, twice: some hundredths of a second to run."""
    return sc.Scenario.parse(TWO_PATHS)
