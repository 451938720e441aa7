"""The bench of repair for live messages: its own tests, its networks, and its messages on mistakes."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

import strandcast as sc

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = "from bench.repair import grid; [print(*cell.sets, sep='\\t') for cell in grid.cells()]"


def bench(*words: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    """Runs something of it."""
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)


def test_its_own_tests() -> None:
    done = bench("-m", "bench", "selftest", "repair")
    assert done.returncode == 0, done.stdout


def test_every_network_is_one_and_no_two_are_alike() -> None:
    base = sc.Scenario.load(ROOT / "bench/repair/video.toml")
    cells = [line.split("\t") for line in bench("-c", LIST).stdout.splitlines()]
    networks = [base.with_sets(sets).resolved() for sets in cells]
    assert len(networks) == 80
    for at, network in enumerate(networks):
        assert network not in networks[:at]
        assert network["flows"]["video"]["app"]["expire"], "messages have a lifetime"
        for link in network["links"].values():
            # Length of a queue, in seconds of its link.
            assert int(link["queue"]["limit"].removesuffix(" B")) * 8 / link["rate"] == pytest.approx(0.1)
            assert len(link["loss"]) == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--seeds", "0"], "repair: argument --seeds: 0 is not a whole number from 1 on"),
        (["--program", "/nowhere"], "repair: no /nowhere: cargo build --release -p strandcast-cli, or --program FILE"),
        (
            ["--program", sys.executable, "--quick", "--write"],
            "repair: --write: the documentation has 30 seeds of all ",
        ),
    ],
)
def test_a_mistake_is_one_line(words: list[str], line: str) -> None:
    done = bench("-m", "bench", "repair", *words)
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert said.startswith(line)
