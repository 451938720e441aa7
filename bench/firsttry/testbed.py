"""Network namespaces of a cell, and the wires between them.

Names, addresses and devices are as in bench/links. The links differ, because those of bench/links keep the order of
packets, and not every kernel has sch_netem. `wire.c` delays packets by a time and a draw, in order or not.
"""

import json
import os
import subprocess
from pathlib import Path

from bench import common
from bench.common import RunError, UnsoundError, carried
from bench.firsttry.cells import Cell
from bench.links import netns

WIRE = Path(__file__).parent / "wire.c"
# For a wire with a rate: longer waits are losses.
QUEUE_MS = 100
# Lateness of a timer above which a run does not count.
MOST_STALL_MS = 50.0
# Packets that a device holds until the wire reads them.
DEVICE_QUEUE = 20_000


def built() -> Path:
    """The wire's program, made if it is not there.

    Raises:
        RunError: It can't be made.
    """
    words = ["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", str(WIRE), "-o"]
    return common.built(common.OUT / "wire", "gcc libc6-dev", words, WIRE.read_bytes())


class Wire:
    """One link: a process of its own."""

    def __init__(self, program: Path, cell: Cell, seed: int, ends: list[int]) -> None:
        """Between two TUN devices, which are closed here."""
        one_way_us, jitter_us = round(cell.rtt_ms * 500), round(cell.jitter_ms * 1000)
        words = [one_way_us, jitter_us, int(cell.ordered), round(cell.link_mbps * 1e6), QUEUE_MS * 1000, seed]
        # Real time, since lateness would be the link's: it needs a few per cent of a core.
        self.process = subprocess.Popen(
            ["chrt", "-f", "5", str(program), *map(str, words)],
            stdin=ends[0],
            stdout=ends[1],
            stderr=subprocess.PIPE,
            text=True,
        )
        for fd in ends:
            os.close(fd)

    def close(self) -> dict:
        """Ends the process, and gives its counters.

        Raises:
            RuntimeError: It failed; `netns.Environment.close` keeps that as a counter.
        """
        self.process.terminate()
        told = self.process.communicate(timeout=10)[1]
        if self.process.returncode:
            raise RuntimeError(f"the wire failed: {told.strip()}")
        return json.loads(told.splitlines()[-1])


class Testbed(netns.Environment):
    """The namespaces and wires of a cell; on loopback both sides are in one namespace."""

    device = f"txqueuelen {DEVICE_QUEUE}"

    def __init__(self, cell: Cell, seed: int, job: int) -> None:
        """`job`: which of those side by side."""
        self.cell, self.seed, self.job = cell, seed, job
        self.c, self.s = (f"links-{os.getpid()}-{job}-{side}" for side in "cs")
        if cell.loopback:
            self.s = self.c
        self.links: list[Wire] = []
        self.started: list[subprocess.Popen] = []
        self.counters: list[dict] | None = None

    def lay(self) -> None:
        """Makes namespaces, devices and wires; both addresses of a loopback are of one namespace."""
        super().lay()
        if self.cell.loopback:
            netns.sh(f"ip -n {self.c} addr add {netns.client(1)}/32 dev lo")
            netns.sh(f"ip -n {self.c} addr add {netns.server(1)}/32 dev lo")

    def count(self) -> int:
        """Number of wires."""
        return 0 if self.cell.loopback else self.cell.links

    def link(self, number: int, ends: list[int]) -> Wire:
        """A wire between two devices.

        Raises:
            RunError: The wire's program can't be made.
        """
        return Wire(built(), self.cell, 100 * self.seed + number, ends)

    def stalled_ms(self, claimed: int, source_ms: float) -> float:
        """The most by which a wire or the source was late, ms; after the wires are closed.

        Raises:
            RunError: A wire failed.
            UnsoundError: That is too much, or one of the first `claimed` wires, over which a contestant says that it
                sends, carried nothing.
        """
        counters = self.counters or []
        if any("error" in link for link in counters):
            raise RunError(f"a wire failed: {counters}")
        worst_ms = max([source_ms, *(link[way]["worst_ms"] for link in counters for way in ("forward", "reverse"))])
        if worst_ms > MOST_STALL_MS:
            raise UnsoundError(f"a timer was {worst_ms:.0f} ms late")
        carried(netns.delivered(counters, range(1, min(claimed, self.count()) + 1)))
        return worst_ms
