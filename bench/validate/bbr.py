"""Simulated TCP's `bbr,bbr-version=1` (profile `linux`) compared with the kernel's `bbr`: docs/measurements/validation.md.

A cell is FLOWS/RATE/RTT/QUEUE/LOSS: one bottleneck. Between two network namespaces every packet crosses the simulator's
own link in real time (bench/links). iperf3 sends; goodput is what its receiver read in order after 10 s, for 30 s alone
and 60 s with CUBIC. Without root, TUN, iperf3 or BBR a line says so, and the kernel's side is that of the stored rows.
Mainline kernels have BBRv1; no kernel at hand has v3. The exit code is 1 if BBR alone has a goodput more than 10 % from
the kernel's, or with CUBIC a share of both more than 10 points from it.
"""

import argparse
import dataclasses
import itertools
import json
import subprocess
import time
from pathlib import Path

from bench import common
from bench.common import UnsoundError, option, whole
from bench.links import contestants, netns
from bench.pages import table as markdown
from bench.validate import linux, sides, table

NETWORK = table.FOLDER / "bbr"
PAGE = "validation.md"
LIMIT, WARMUP, PORT = 0.10, 10, 5201
PACKET = 1500


@dataclasses.dataclass(frozen=True)
class Cell:
    """One network and who sends."""

    flows: tuple[str, ...]
    rate_mbps: int
    rtt_ms: int
    queue_bdp: float
    loss: float

    @property
    def name(self) -> str:
        """Name of the cell."""
        who, loss = "+".join(self.flows), f"{100 * self.loss:g}%"
        return f"{who}/{self.rate_mbps}M/{self.rtt_ms}ms/{self.queue_bdp:g}BDP/{loss}"

    @property
    def seconds(self) -> int:
        """Seconds of a run that count."""
        return 30 if len(self.flows) == 1 else 60

    def sets(self) -> list[str]:
        """Changes to the scenario's link."""
        bdp = self.rate_mbps * 1e6 / 8 * self.rtt_ms / 1e3
        queue = max(round(self.queue_bdp * bdp), 4 * PACKET)
        return [
            f"links.p1.rate={self.rate_mbps} Mbit/s",
            f"links.p1.delay={self.rtt_ms / 2} ms",
            f"links.p1.queue.limit={queue} B",
            *([f"links.p1.loss.uniform.rate={self.loss}"] if self.loss else []),
        ]

    def digest(self) -> str:
        """Changes when the network does."""
        return table.digest({"sets": self.sets(), "flows": self.flows, "seconds": self.seconds})


def cells() -> dict[str, Cell]:
    """The grid: BBR alone; BBR with CUBIC."""
    alone = itertools.product([("bbr",)], (5, 20), (20, 100), (0.5, 1, 4), (0.0, 0.01))
    beside = itertools.product([("bbr", "cubic")], (20,), (20, 100), (0.5, 1, 2, 4, 8), (0.0,))
    return {cell.name: cell for cell in (Cell(*values) for values in itertools.chain(alone, beside))}


OPTIONS = [
    *sides.OPTIONS,
    option("--runs", type=whole, default=3, help="of each cell; a summary needs at least two"),
    option("--no-build", action="store_true", help="take the emulator as it is"),
]
DEFAULTS = {"jobs": 1}


def measured(asked: argparse.Namespace) -> dict[str, str] | tuple[dict[str, str], bool]:
    chosen = sides.some(cells(), asked.cells)
    if asked.list:
        return {"cells": "\n".join(chosen)}
    both = sides.Sides(asked, "linux-bbr")
    version = sides.kernel("cubic", "bbr") if asked.report is None else None
    emulator = netns.emulator(build=not asked.no_build) if version else Path()

    def kernels(task: tuple[Cell, int], job: int) -> dict:
        cell, run = task
        goodput = linux.counted(netns.Environment(emulator, NETWORK, run, cell.sets(), job), [1], transfer, cell)
        return {flow: {"goodput_bps": bps} for flow, bps in goodput.items()}

    theirs = {
        (name, str(run), cell.digest()): (cell, run)
        for run, (name, cell) in itertools.product(range(1, asked.runs + 1), chosen.items())
    }
    ours = {(name, sides.ALL, cell.digest()): cell for name, cell in chosen.items()}
    both.make(theirs, version, kernels, ours, lambda cell, _: simulate(asked.program, cell))
    return compare(both, chosen)


def transfer(env: netns.Environment, cell: Cell) -> dict[str, float]:
    """All flows at once; goodput after the warm-up."""
    for side, (key, value) in itertools.product((env.c, env.s), linux.LARGE.items()):
        subprocess.run(["ip", "netns", "exec", side, "sysctl", "-qw", f"{key}={value}"], check=True)
    whole = WARMUP + cell.seconds
    pairs = {}
    for number, flow in enumerate(cell.flows):
        port = PORT + number
        server = env.start("s", ["iperf3", "-s", "-1", "-J", "-i", "1", "-p", port], **contestants.PIPE)
        linux.listening(env, port)
        pairs[flow] = (port, server)
    clients = {}
    for flow, (port, _) in pairs.items():
        words = ["iperf3", "-c", netns.server(1), "-p", port, "-B", netns.client(1), "-C", flow, "-J"]
        clients[flow] = env.start("c", [*words, "-t", whole + 1], **contestants.PIPE)
    time.sleep(WARMUP)
    used = {line.split()[0] for line in contestants.inside(env, "c", "ss", "-tinH").splitlines() if " wscale:" in line}
    if not set(cell.flows) <= used:
        raise UnsoundError(f"congestion controls {', '.join(sorted(used))}")
    for client in clients.values():
        if "error" in (told := json.loads(contestants.told(client, whole + 30))):
            raise UnsoundError(f"iperf3: {told['error']}")
    told = {flow: json.loads(contestants.told(server, 30)) for flow, (_, server) in pairs.items()}
    return {flow: linux.goodput_bps(said, WARMUP, whole) for flow, said in told.items()}


def simulate(program: Path, cell: Cell) -> dict[str, dict]:
    """Goodput of each flow, as our command reports it."""
    changes = [*cell.sets(), f"run.time={WARMUP + cell.seconds} s"]
    if "cubic" not in cell.flows:
        changes.append("flows.cubic=")
    sets = [word for change in changes for word in ("--set", change)]
    flows = json.loads(common.simulate([program, "simulate", f"{NETWORK}.toml", "--json", *sets]))["flows"]
    found = {}
    for flow in cell.flows:
        (result,) = flows[flow].values()
        found[flow] = {"goodput_bps": {key: result["goodput_bps"][key] for key in ("mean", "ci95", "n")}}
    return found


def row(name: str, flow: str, there: dict, here: dict) -> list[str]:
    """A flow's line of the table."""
    ratio = here["mean"] / there["mean"]
    return [name, flow, table.show(there), table.show(here), f"{ratio:.3f}"]


def apart(cell: Cell, there: dict, here: dict) -> tuple[float, float]:
    """BBR's goodput, ours over the kernel's, and how much larger its share of all flows' is."""
    share = [side["bbr"]["mean"] / sum(side[flow]["mean"] for flow in cell.flows) for side in (there, here)]
    return here["bbr"]["mean"] / there["bbr"]["mean"], share[1] - share[0]


def compare(both: sides.Sides, chosen: dict[str, Cell]) -> tuple[dict[str, str], bool]:
    """The table, and whether every gap is small."""
    rows, off = [], []
    for name, *pair in both.pairs({name: cell.digest() for name, cell in chosen.items()}, rows, off):
        cell = chosen[name]
        there, here = ({flow: found["goodput_bps"] for flow, found in side.items()} for side in pair)
        rows += [row(name, flow, there[flow], here[flow]) for flow in cell.flows]
        ratio, points = apart(cell, there, here)
        if abs(ratio - 1 if len(cell.flows) == 1 else points) > LIMIT:
            off.append(f"{name}: {ratio:.3f} times the kernel's goodput, {100 * points:+.0f} points of the share")
    heads = ["cell", "flow", "Linux, Mbit/s", "ours, Mbit/s", "ours / Linux"]
    return {"bbr": both.by() + markdown(heads, rows, "---")}, sides.judged(off)
