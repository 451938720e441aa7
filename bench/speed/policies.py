"""Costs of policies in Python, compared with Rust: in the simulator and over loopback.

Figures are medians over rounds that take turns; ratios are taken within a round. Processor time does not depend on
the load of the machine. The data that a second of the sender's core carries are about the rate of an idle machine.
docs/measurements/performance.md
"""
# ruff: noqa: ARG002 - a policy need not look at all that it is shown.

from __future__ import annotations

import argparse
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import strandcast as sc
from bench.common import ROOT, option, whole
from bench.pages import table

NEEDS_PROGRAM = False
LOOPBACK = ["bind=127.0.0.1", "bind=127.0.0.2"]
COMMAND = [sys.executable, "-c", "import sys; from strandcast.command import main; sys.exit(main())"]


class Packets(sc.Scheduler):
    """A packet per path in turn: one call a packet. In Rust: `cmt,turn=packet`."""

    def next(self, view: sc.View, backlog: sc.Backlog) -> int | None:
        """The next path with room."""
        room = [path.id for path in view.usable if path.room]
        last = view.last_path_used
        after = [path for path in room if last is not None and path > last]
        return next(iter(after or room), None)


class Windows(sc.Scheduler):
    """A window a path in turn: one call for all that fits. In Rust: `cmt`."""

    def next(self, view: sc.View, backlog: sc.Backlog) -> sc.Assignment | None:
        """All that the next path with room has room for."""
        room = [path for path in view.usable if path.room]
        last = view.last_path_used
        after = [path for path in room if last is not None and path.id > last]
        path = next(iter(after or room), None)
        return sc.Assignment(path.id, -(-path.room // max(backlog.next_len, 1))) if path else None


class Everything(Packets, sc.CongestionControl):
    """`Packets` that also receives all signals and is asked for all limits, which stay those of `cmt`."""

    def on_signal(self, view: sc.View, signal: sc.Signal) -> None:
        """Receives the signal."""

    def limit(self, path: int) -> None:
        """The base's."""


PAIRS: list[tuple[type[sc.Policy], str]] = [
    (Packets, "cmt,turn=packet"),
    (Windows, "cmt"),
    (Everything, "cmt,turn=packet"),
]


def simulated(scheme: str | type[sc.Policy]) -> float:
    """Packets of the compared flow that a second of one core simulates."""
    scenario = sc.Scenario.load(ROOT / "experiments/xu2015/fig4.toml")
    begin = time.process_time()
    result = sc.run(scenario, scheme, runs=3, seed=1, jobs=1, progress=False)
    used = time.process_time() - begin
    return float(result.metric("sent_packets")["value"].sum()) / used


def carried(scheme: str | type[sc.Policy], seconds: float) -> tuple[float, float]:
    """Mbit/s over two loopback paths, and Mbit that a second of the sender's core carries."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with subprocess.Popen(
        [*COMMAND, "perf", "server", "--plain", "--once", address], stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        server.stderr.readline()
        measured = sc.perf(address, scheme, paths=LOOPBACK, time=seconds, plain=True)
    end = measured["end"]
    return end["sum_received"]["bits_per_second"] / 1e6, 8e3 / end["cpu_seconds_per_gb"]["sender"]


def rows(
    names: Sequence[str], measure: Callable[[str | type[sc.Policy]], Sequence[float]], rounds: int
) -> list[list[str]]:
    """A row for each figure of each pair."""
    lines = []
    for python, rust in PAIRS:
        found = [(measure(python), measure(rust)) for _ in range(rounds)]
        for at, name in enumerate(names):
            mine, theirs = (statistics.median(one[at] for one in side) for side in zip(*found))
            ratio = statistics.median(a[at] / b[at] for a, b in found)
            lines.append([name, python.__name__, f"{mine:.0f}", f"`{rust}`", f"{theirs:.0f}", f"{ratio:.2f}"])
    return lines


OPTIONS = [
    option("--rounds", type=whole, default=5),
    option("--time", type=float, default=3.0, help="seconds of a transfer"),
]


def measured(asked: argparse.Namespace) -> dict[str, str]:
    lines = rows(["simulated packets/s"], lambda scheme: [simulated(scheme)], asked.rounds)
    names = ["loopback Mbit/s", "loopback Mbit/s of a core"]
    lines += rows(names, lambda scheme: carried(scheme, asked.time), asked.rounds)
    return {"policies": table(["", "in Python", "", "in Rust", "", "ratio"], lines)}
